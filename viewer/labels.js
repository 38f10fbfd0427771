// The names of bodies beside them, on a canvas over the view.

class Labels {
  constructor(canvas, stage) {
    Object.assign(this, { canvas, stage, empty: true });
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
    const { stage } = this, taken = [];
    c.setTransform(ratio, 0, 0, ratio, 0, 0);
    c.font = '600 12.5px system-ui, -apple-system, "Segoe UI", "DejaVu Sans", sans-serif';
    c.textBaseline = 'middle';
    c.lineJoin = 'round';
    const list = scene.bodies.map((body, index) => [index, ...stage.screenOf(index)])
      .filter(([, x, y, z]) => x > 0 && y > 0 && x < stage.width && y < stage.height && Math.abs(z) < 1)
      .sort((a, b) => a[3] - b[3]).slice(0, 80);
    for (const [index, x, y] of list) {
      const text = scene.bodies[index].name, wide = c.measureText(text).width + 10;
      const places = [[9, -12], [9, 12], [-wide - 5, -12], [-wide - 5, 12]].map(([dx, dy]) => [x + dx, y + dy]);
      const free = places.find(([px, py]) => !taken.some(([qx, qy, w]) => px < qx + w && qx < px + wide && Math.abs(py - qy) < 17));
      if (!free) continue;
      taken.push([...free, wide]);
      c.strokeStyle = cssColor('--ground');
      c.lineWidth = 4;
      c.strokeText(text, free[0], free[1]);
      c.fillStyle = cssColor('--ink');
      c.fillText(text, free[0], free[1]);
      c.beginPath();
      c.arc(x, y, 2.6, 0, 2 * Math.PI);
      c.fill();
    }
  }
}
