// The names of bodies beside them, on a canvas over the view.

/** Places for a name about its point, the nearest first: [distance, angle] in pixels and radians. */
const labelPlaces = [14, 26, 40, 56, 76, 100, 130].flatMap((far) =>
  [-0.7, 0.7, Math.PI + 0.7, Math.PI - 0.7, -1.3, 1.3, Math.PI + 1.3, Math.PI - 1.3, 0, Math.PI].map((angle) => [far, angle]));

class Labels {
  constructor(canvas, stage) {
    Object.assign(this, { canvas, stage, empty: true, places: new Map() });
  }

  /** Draws the names of at most 80 bodies, those in front first; none covers another. */
  draw() {
    const { canvas, stage } = this, shown = stage.isShown('labels');
    if (!shown && this.empty) return;
    const ratio = window.devicePixelRatio || 1, c = canvas.getContext('2d');
    canvas.width = Math.round(stage.width * ratio);
    canvas.height = Math.round(stage.height * ratio);
    this.empty = !shown;
    if (shown) this.write(c, ratio);
  }

  write(c, ratio) {
    const { stage } = this;
    c.setTransform(ratio, 0, 0, ratio, 0, 0);
    c.font = '600 12.5px system-ui, -apple-system, "Segoe UI", "DejaVu Sans", sans-serif';
    c.textBaseline = 'middle';
    c.lineJoin = 'round';
    const points = scene.bodies.map((body, index) => [index, ...stage.screenOf(index)])
      .filter(([, x, y, z]) => x > 0 && y > 0 && x < stage.width && y < stage.height && Math.abs(z) < 1)
      .sort((a, b) => a[3] - b[3]).slice(0, 80);
    this.taken = points.map(([, x, y]) => [x - 4, y - 4, x + 4, y + 4]);
    const list = points.map(([index, x, y]) => ({ x, y, text: scene.bodies[index].name, box: this.findPlace(index, x, y, c.measureText(scene.bodies[index].name).width) }));
    this.boxes = list.map(({ box }) => box).filter(Boolean);
    for (const { x, y, box } of list) if (box) this.drawLeader(c, x, y, box);
    for (const { x, y, box, text } of list) if (box) this.drawName(c, x, y, box, text);
  }

  /** A free box [left, top, right, bottom] for a name; null if there is none.  The place it had in the last
   * picture comes first, so that names do not jump. */
  findPlace(index, x, y, wide) {
    const boxAt = ([far, angle]) => {
      const px = x + far * Math.cos(angle), py = y + far * Math.sin(angle), left = Math.cos(angle) < -0.01 ? px - wide - 4 : px;
      return [left, py - 8, left + wide + 4, py + 8];
    };
    const fits = ([left, top, right, bottom]) => left > 2 && top > 2 && right < this.stage.width - 2 && bottom < this.stage.height - 2
      && !this.taken.some(([l, t, r, b]) => left < r && l < right && top < b && t < bottom);
    const last = this.places.get(index);
    const place = (last ? [last, ...labelPlaces] : labelPlaces).find((one) => fits(boxAt(one)));
    if (!place) return null;
    this.places.set(index, place);
    this.taken.push(boxAt(place));
    return boxAt(place);
  }

  /** A thin line from the point to the nearest edge of its name. */
  drawLeader(c, x, y, [left, top, right, bottom]) {
    const toX = Math.min(Math.max(x, left + 2), right - 2), toY = Math.min(Math.max(y, top + 3), bottom - 3);
    for (const [color, width] of [['--ground', 3], ['--soft', 1.2]]) {
      c.strokeStyle = cssColor(color);
      c.lineWidth = width;
      c.beginPath();
      c.moveTo(x, y);
      c.lineTo(toX, toY);
      c.stroke();
    }
  }

  drawName(c, x, y, [left, top], text) {
    c.strokeStyle = cssColor('--ground');
    c.lineWidth = 4;
    c.strokeText(text, left + 2, top + 8);
    c.fillStyle = cssColor('--ink');
    c.fillText(text, left + 2, top + 8);
    c.beginPath();
    c.arc(x, y, 2.6, 0, 2 * Math.PI);
    c.fill();
  }
}
