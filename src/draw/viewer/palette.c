/* The colours of bodies.  The first six are those of Okabe and Ito (2008).  The others were found
 * one after the other, each as far as can be from all before it in OKLab (Ottosson 2020), as seen
 * with normal, protanopic, deuteranopic and tritanopic vision (Machado, Oliveira and Fernandes
 * 2009): any two of the 30 are at least 0.059 apart, about three times what can just be noticed.
 * tests/viewer/test_palette.py checks it.  More than 60 bodies cannot be told apart by colour; they
 * run through cividis (Nunez and others 2018) instead. */
#include "draw/viewer/scene.h"

#include <math.h>

enum { NUM_COLORS = 30, NUM_STEPS = 9, MANY = 60 };

static int step_color(double part)
{
  static const int steps[NUM_STEPS] = {0x123570, 0x3b496c, 0x575d6d, 0x707173, 0x8a8678,
                                       0xa59c74, 0xc3b369, 0xe1cc55, 0xfde737};
  const double at = part * (NUM_STEPS - 1);
  const int i = at < NUM_STEPS - 1 ? (int)at : NUM_STEPS - 2;
  int color = 0;
  for (int shift = 16; shift >= 0; shift -= 8) {
    const int low = steps[i] >> shift & 255, high = steps[i + 1] >> shift & 255;
    color = color << 8 | (int)lround(low + (at - i) * (high - low));
  }
  return color;
}

int poli_body_color(int body, int num_bodies)
{
  static const int colors[NUM_COLORS] = {
      0x0072b2, 0xe69f00, 0x009e73, 0xd55e00, 0xcc79a7, 0x56b4e9, 0x660000, 0xcceecc,
      0x332277, 0x884455, 0xbbbb99, 0x66ddff, 0x1144aa, 0xffdd11, 0x9977ee, 0xaa3300,
      0x553344, 0xaa4488, 0x882211, 0xaadd88, 0x554477, 0x886655, 0x88cccc, 0xffbb44,
      0x99ff88, 0x99aa77, 0x66ffff, 0xcc99aa, 0x7766dd, 0xee7733,
  };
  if (body < 0) return 0xa3abb5;
  if (num_bodies > MANY) return step_color(body / (num_bodies - 1.0));
  return colors[body % NUM_COLORS];
}
