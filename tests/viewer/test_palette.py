#!/usr/bin/env python3
"""The colours of bodies: any two of the 30 differ for every kind of colour vision.

    test_palette.py SOURCE_DIR

Distances are those of OKLab (Ottosson 2020); colour vision as in Machado, Oliveira and Fernandes
(2009), severity 1.
"""
import itertools
import math
import pathlib
import re
import sys

VISION = {
    "normal": ((1, 0, 0), (0, 1, 0), (0, 0, 1)),
    "protanopia": ((0.152286, 1.052583, -0.204868), (0.114503, 0.786281, 0.099216),
                   (-0.003882, -0.048116, 1.051998)),
    "deuteranopia": ((0.367322, 0.860646, -0.227968), (0.280085, 0.672501, 0.047413),
                     (-0.011820, 0.042940, 0.968881)),
    "tritanopia": ((1.255528, -0.076749, -0.178779), (-0.078411, 0.930809, 0.147602),
                   (0.004733, 0.691367, 0.303900)),
}


def linear(c):
    return c / 12.92 if c <= 0.04045 else ((c + 0.055) / 1.055) ** 2.4


def oklab(rgb):
    rows = ((0.4122214708, 0.5363325363, 0.0514459929), (0.2119034982, 0.6806995451, 0.1073969566),
            (0.0883024619, 0.2817188376, 0.6299787005))
    cones = [math.cbrt(sum(a * b for a, b in zip(row, rgb))) for row in rows]
    back = ((0.2104542553, 0.7936177850, -0.0040720468), (1.9779984951, -2.4285922050, 0.4505937099),
            (0.0259040371, 0.7827717662, -0.8086757660))
    return [sum(a * b for a, b in zip(row, cones)) for row in back]


def seen(color, matrix):
    rgb = [linear((color >> shift & 255) / 255) for shift in (16, 8, 0)]
    return oklab([min(max(sum(a * b for a, b in zip(row, rgb)), 0), 1) for row in matrix])


def main():
    text = (pathlib.Path(sys.argv[1]) / "src/draw/viewer/palette.c").read_text(encoding="ascii")
    colors = [int(word, 16) for word in re.findall(r"0x[0-9a-f]{6}", text.split("colors[NUM_COLORS] = {")[1].split("}")[0])]
    if len(colors) != 30:
        sys.exit(f"{len(colors)} colours instead of 30")
    failed = False
    for name, matrix in VISION.items():
        values = [seen(color, matrix) for color in colors]
        distance, pair = min((math.dist(values[a], values[b]), (a, b))
                             for a, b in itertools.combinations(range(30), 2))
        print(f"{name:14} nearest: {distance:.4f}, #{colors[pair[0]]:06x} and #{colors[pair[1]]:06x}")
        failed = failed or distance < 0.059
    sys.exit("two colours are nearer than 0.059" if failed else 0)


if __name__ == "__main__":
    main()
