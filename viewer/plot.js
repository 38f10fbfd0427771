// The plot beside the view: chosen channels over time, one panel for each unit, a cursor at the time
// of the view.

const plotColors = ['--s1', '--s2', '--s3', '--s4', '--s5', '--s6'];

/** A number for people: four digits, no more zeros than needed. */
function formatNumber(x, digits = 4) {
  if (!isFinite(x)) return '-';
  const size = Math.abs(x);
  if (size !== 0 && (size < 1e-3 || size >= 1e5)) return x.toExponential(Math.max(digits - 2, 0)).replace(/\.?0*e\+?/, 'e');
  return String(Number(x.toPrecision(digits)));
}

/** The numbers of an axis: all with the digits that the step between them needs. */
function tickTexts(list, step) {
  const largest = Math.max(...list.map(Math.abs)), decimals = Math.max(0, -Math.floor(Math.log10(step) + 1e-9));
  if (largest < 1e5 && decimals <= 4) return list.map((x) => x.toFixed(decimals));
  // enough digits that neighbours differ, of which powers of ten have one less
  const digits = Math.min(Math.max(Math.ceil(Math.log10(largest / step)) + 2, 3), 10);
  return list.map((x) => formatNumber(x, digits));
}

/** Ticks at 1, 2 or 5 times a power of ten: about `count` of them in [low, high]. */
function ticks(low, high, count) {
  const step = niceNumber((high - low) / count);
  const list = [];
  for (let i = Math.ceil(low / step - 1e-9); i * step <= high + 1e-9 * step; i++) list.push(Math.abs(i * step) < 1e-12 * step ? 0 : i * step);
  return { list, step };
}

class Plot {
  constructor(canvas, cursor, legend, onSeek) {
    Object.assign(this, { canvas, cursor, legend, onSeek, series: [], time: 0 });
    const seek = (event) => onSeek(this.timeAt(event.offsetX));
    canvas.addEventListener('pointerdown', (event) => { canvas.setPointerCapture(event.pointerId); this.dragging = true; seek(event); });
    canvas.addEventListener('pointermove', (event) => { if (this.dragging) seek(event); });
    for (const name of ['pointerup', 'pointercancel']) canvas.addEventListener(name, () => { this.dragging = false; });
  }

  has(name) { return this.series.some((one) => one.name === name); }

  /** Adds channels by name; a colour that is free is taken. */
  add(names) {
    for (const name of names) {
      const channel = channels.get(name);
      if (!channel || this.has(name)) continue;
      const used = this.series.map((one) => one.color);
      const color = plotColors.find((one) => !used.includes(one)) || plotColors[this.series.length % plotColors.length];
      const data = new Float64Array(numFrames);
      for (let i = 0; i < numFrames; i++) data[i] = channel.at(i);
      // dashes of another run let an equal curve below be seen
      this.series.push({ name, channel, color, data, dashed: name.startsWith('compared.') });
    }
    this.refresh();
  }

  remove(name) {
    this.series = this.series.filter((one) => one.name !== name);
    this.refresh();
  }

  clear() { this.series = []; this.refresh(); }

  refresh() {
    this.writeLegend();
    this.drawCurves();
    this.draw(this.time);
  }

  writeLegend() {
    this.legend.textContent = '';
    for (const one of this.series) {
      const item = document.createElement('li');
      const swatch = document.createElement('span'), name = document.createElement('span');
      const button = document.createElement('button');
      one.output = document.createElement('span');
      swatch.className = 'swatch';
      swatch.style.borderColor = `var(${one.color})`;
      if (one.dashed) swatch.style.borderTopStyle = 'dashed';
      name.className = 'name';
      name.textContent = name.title = one.name;
      one.output.className = 'value';
      button.type = 'button';
      button.textContent = '\u00d7';
      button.setAttribute('aria-label', `Remove ${one.name} from the plot`);
      button.addEventListener('click', () => {
        const number = this.series.indexOf(one);
        this.remove(one.name);
        const left = this.legend.querySelectorAll('button'); // the keyboard goes on from the next one
        (left[Math.min(number, left.length - 1)] || this.canvas).focus();
      });
      item.append(swatch, name, one.output, button);
      this.legend.append(item);
    }
  }

  timeAt(x) {
    const part = (x - this.left) / (this.right - this.left);
    return Math.min(Math.max(part, 0), 1) * duration;
  }

  xOf(time) { return this.left + (duration > 0 ? time / duration : 0) * (this.right - this.left); }

  resize() {
    const ratio = window.devicePixelRatio || 1;
    const width = Math.round(this.canvas.clientWidth * ratio), height = Math.round(this.canvas.clientHeight * ratio);
    if (!width || !height || (this.canvas.width === width && this.canvas.height === height)) return;
    Object.assign(this.canvas, { width, height });
    this.drawCurves();
    this.draw(this.time);
  }

  /** Everything but the cursor. */
  drawCurves() {
    const ratio = window.devicePixelRatio || 1;
    const c = this.canvas.getContext('2d');
    const width = this.canvas.clientWidth, height = this.canvas.clientHeight;
    c.setTransform(ratio, 0, 0, ratio, 0, 0);
    c.clearRect(0, 0, width, height);
    c.font = '11px system-ui, sans-serif';
    Object.assign(this, { left: 52, right: width - 8, top: 8, bottom: height - 32 });
    const units = [...new Set(this.series.map((one) => one.channel.unit))];
    if (!units.length) {
      c.fillStyle = cssColor('--soft');
      c.textAlign = 'center';
      c.fillText('Choose a quantity above', width / 2, height / 2);
      return;
    }
    const gap = 14, height1 = (this.bottom - this.top - gap * (units.length - 1)) / units.length;
    const panels = units.map((unit, i) => this.panelOf(unit, this.top + i * (height1 + gap), height1));
    // the numbers of all panels stand between their units and the curves
    const widest = Math.max(...panels.flatMap(({ texts }) => texts.map((text) => c.measureText(text).width)));
    this.left = Math.max(52, 24 + widest);
    this.numbersLeft = this.left - 6 - widest;
    for (const panel of panels) this.drawPanel(c, panel);
    this.drawTimeAxis(c);
  }

  drawTimeAxis(c) {
    const { list, step } = ticks(0, duration || 1, Math.max(Math.floor((this.right - this.left) / 60), 2)), texts = tickTexts(list, step);
    c.fillStyle = cssColor('--soft');
    c.textAlign = 'center';
    c.textBaseline = 'top';
    list.forEach((t, i) => { if (t <= duration * (1 + 1e-6)) c.fillText(texts[i], Math.min(this.xOf(t), this.right - 0.5 * c.measureText(texts[i]).width), this.bottom + 5); });
    c.textAlign = 'right';
    c.fillText(scene.axis.unit ? `${scene.axis.name} in ${scene.axis.unit}` : scene.axis.name, this.right, this.bottom + 18);
  }

  /** The curves of a unit, their range and its ticks. */
  panelOf(unit, top, height) {
    const shown = this.series.filter((one) => one.channel.unit === unit), bottom = top + height;
    let low = Infinity, high = -Infinity;
    for (const one of shown) for (const y of one.data) if (isFinite(y)) { low = Math.min(low, y); high = Math.max(high, y); }
    if (!(low <= high)) { low = 0; high = 1; }
    for (const one of shown) one.largest = Math.max(Math.abs(low), Math.abs(high));
    const margin = 0.05 * (high - low || Math.abs(high)) || 1;
    low -= margin; high += margin;
    const { list, step } = ticks(low, high, Math.max(Math.floor(height / 36), 2));
    return { unit, shown, top, bottom, list, texts: tickTexts(list, step), yOf: (y) => bottom - ((y - low) / (high - low)) * height };
  }

  drawPanel(c, panel) {
    const { shown, top, bottom, yOf } = panel;
    this.drawGrid(c, panel);
    c.save();
    c.beginPath();
    c.rect(this.left, top, this.right - this.left, bottom - top);
    c.clip();
    for (const one of shown) this.drawCurve(c, one, yOf);
    c.restore();
  }

  drawGrid(c, { unit, top, bottom, list, texts, yOf }) {
    c.strokeStyle = cssColor('--line');
    c.fillStyle = cssColor('--soft');
    c.lineWidth = 1;
    c.textAlign = 'right';
    c.textBaseline = 'middle';
    list.forEach((y, i) => {
      const at = Math.round(yOf(y)) + 0.5;
      c.beginPath();
      c.moveTo(this.left, at);
      c.lineTo(this.right, at);
      c.stroke();
      c.fillText(texts[i], this.left - 6, at);
    });
    c.save();
    c.translate(8, (top + bottom) / 2);
    c.rotate(-Math.PI / 2);
    c.textAlign = 'center';
    c.fillText(unit === '1' || !unit ? '' : unit, 0, 0);
    c.restore();
  }

  drawCurve(c, one, yOf) {
    c.strokeStyle = cssColor(one.color);
    c.lineWidth = 1.6;
    c.lineJoin = 'round';
    c.setLineDash(one.dashed ? [7, 5] : []);
    c.beginPath();
    let pen = false;
    for (let i = 0; i < numFrames; i++) {
      const y = one.data[i];
      if (!isFinite(y)) { pen = false; continue; }
      if (pen) c.lineTo(this.xOf(times[i]), yOf(y)); else c.moveTo(this.xOf(times[i]), yOf(y));
      pen = true;
    }
    c.stroke();
    c.setLineDash([]);
  }

  /** The cursor, and the values where it is. */
  draw(time) {
    this.time = time;
    this.cursor.hidden = !this.series.length;
    Object.assign(this.cursor.style, { top: `${this.top}px`, height: `${this.bottom - this.top}px`, transform: `translateX(${this.xOf(time)}px)` });
    for (const one of this.series) {
      const value = valueAt(one.channel, time);
      // what is round-off beside the others of the panel is zero
      const text = formatNumber(Math.abs(value) < 1e-10 * one.largest ? 0 : value);
      one.output.textContent = `${text} ${one.channel.unit === '1' ? '' : one.channel.unit}`;
    }
  }
}

/** What the list of quantities offers: vectors as one, grouped by what they belong to. */
function quantities() {
  const groups = new Map();
  for (const name of channels.keys()) {
    const parts = /^(.*)\.([wxyz]|\d+)$/.exec(name);
    const key = parts ? parts[1] : name;
    const owner = key.split('.').slice(0, key.startsWith('marker.') ? 2 : 1).join('.');
    if (!groups.has(owner)) groups.set(owner, new Map());
    const group = groups.get(owner);
    if (!group.has(key)) group.set(key, []);
    group.get(key).push(name);
  }
  return groups;
}

/** How channels move: the largest range of them; whether one of these is more than a straight line, and not so many
 * waves that they fill the plot; and the names of those that move visibly beside the others. */
function motionOf(names) {
  const all = names.map((name) => {
    const { at } = channels.get(name), data = Array.from({ length: numFrames }, (_, f) => at(f)).filter(isFinite), last = data.length - 1;
    const low = data.reduce((least, y) => Math.min(least, y), Infinity), high = data.reduce((most, y) => Math.max(most, y), -Infinity);
    const range = high - low || 0, middle = 0.5 * (low + high);
    const bent = data.reduce((most, y, i) => Math.max(most, Math.abs(y - data[0] - ((data[last] - data[0]) * i) / (last || 1))), 0);
    const waves = data.filter((y, i) => i > 0 && (y > middle) !== (data[i - 1] > middle)).length;
    return { name, range, size: Math.max(Math.abs(low), Math.abs(high)) || 0, curved: bent > 0.1 * range && waves < 80 };
  });
  const range = Math.max(0, ...all.map((one) => one.range));
  return {
    range, size: Math.max(0, ...all.map((one) => one.size)), curved: all.some((one) => one.curved && one.range > 0.3 * range),
    names: all.filter((one) => one.range > 0.05 * range || range === 0).map((one) => one.name),
  };
}

/** What to plot at first: what moves most beside its own scale and is more than a straight line.  The position of a
 * body, if it can be seen to move, then the coordinate of a joint, then an angular velocity. */
function firstQuantities() {
  const vector = (body, what) => ['x', 'y', 'z'].map((c) => `${body.name}.${what}.${c}`).filter((name) => channels.has(name));
  const bodies = scene.bodies.slice(0, 100), most = (list) => list.sort((a, b) => b.range - a.range)[0];
  const positions = bodies.map((body) => motionOf(vector(body, 'position')));
  const joints = scene.joints.slice(0, 200).flatMap((joint) => ['angle', 'displacement'].map((what) => `${joint.name}.${what}`))
    .filter((name) => channels.has(name)).map((name) => motionOf([name]));
  const spins = bodies.map((body) => motionOf(vector(body, 'angular_velocity')));
  const choices = [
    positions.filter((one) => one.curved && one.range > 0.02 * roughScale), joints.filter((one) => one.curved && one.range > 0.02),
    spins.filter((one) => one.curved && one.range > 1e-3 * one.size && one.size * duration > 0.01),
    positions.filter((one) => one.range > 0.02 * roughScale), joints.filter((one) => one.range > 1e-3),
    spins.filter((one) => one.size * duration > 1), positions,
  ];
  const found = choices.find((list) => list.length);
  return found ? most(found).names : [];
}
