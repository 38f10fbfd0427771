// Sliders of the parameters, and what is sent when one is moved.

const $ = (id) => document.getElementById(id);

function element(tag, text, className) {
  const one = document.createElement(tag);
  if (text !== undefined) one.textContent = text;
  if (className) one.className = className;
  return one;
}

async function post(path, body) {
  const answer = await fetch(path, { method: 'POST', headers: { 'Content-Type': 'application/json' }, body: JSON.stringify(body || {}) });
  if (!answer.ok) throw new Error(await answer.text());
}

/** Values on their way: one request at a time, with the newest values; those between are skipped. */
const outbox = { values: null, draft: true, busy: false };

async function sendValues(values, draft) {
  outbox.values = { ...outbox.values, ...values };
  outbox.draft = outbox.draft && draft;
  if (outbox.busy) return;
  outbox.busy = true;
  try {
    while (outbox.values) {
      const body = { values: outbox.values, draft: outbox.draft };
      outbox.values = null;
      outbox.draft = true;
      await post('parameters', body);
      await new Promise((done) => setTimeout(done, 50));
    }
  } catch (error) {
    outbox.values = null;
  }
  outbox.busy = false;
}

/** Few digits, without the noise of binary fractions. */
function plainNumber(x) {
  return String(Number(x.toPrecision(12)));
}

/** Ends and step of a slider: those of the file, else around the value of the file. */
function rangeOf(parameter, value) {
  const base = parameter.base, size = Math.abs(base) || 1;
  let low = parameter.min, high = parameter.max;
  if (low === null) low = base > 0 ? 0.2 * base : base - size;
  if (high === null) high = base < 0 ? 0.2 * base : base + size;
  if (!(low < high)) { // one end is given, the value is beyond the usual other one
    if (parameter.min === null) low = high - 2 * size;
    else high = low + 2 * size;
  }
  low = Math.min(low, value);
  high = Math.max(high, value);
  const step = Math.pow(10, Math.floor(Math.log10((high - low) / 100)));
  return { low, high, step };
}

/** One row; `own.value` is what it shows. */
class Row {
  constructor(parameter) {
    this.box = element('div', undefined, 'parameter');
    this.box.dataset.name = parameter.name;
    this.label = element('label', parameter.name);
    this.label.htmlFor = `number-${parameter.name}`;
    this.unit = element('span', '', 'unit');
    this.number = element('input');
    this.number.type = 'number';
    this.number.step = 'any';
    this.number.id = `number-${parameter.name}`;
    this.reset = element('button', '\u21ba');
    this.reset.type = 'button';
    this.slider = element('input');
    this.slider.type = 'range';
    this.slider.setAttribute('aria-label', `${parameter.name}, slider`);
    this.ends = element('div', undefined, 'ends');
    this.low = element('span');
    this.high = element('span');
    this.ends.append(this.low, this.high);
    this.text = element('p', '', 'small');
    this.box.append(this.label, this.number, this.unit, this.reset, this.slider, this.ends, this.text);
    this.slider.addEventListener('input', () => this.move(Number(this.slider.value), true));
    this.slider.addEventListener('change', () => { this.dragged = false; this.move(Number(this.slider.value), false); });
    this.slider.addEventListener('pointerdown', () => { this.dragged = true; });
    this.slider.addEventListener('pointerup', () => { this.dragged = false; });
    this.number.addEventListener('change', () => this.type());
    this.reset.addEventListener('click', () => { this.show(this.parameter, this.parameter.base); sendValues({ [this.parameter.name]: null }, false); });
  }

  move(value, draft) {
    const exact = Number(value.toPrecision(12));
    this.number.value = plainNumber(exact);
    this.value = exact;
    this.box.classList.toggle('moved', exact !== this.parameter.base);
    sendValues({ [this.parameter.name]: exact }, draft);
  }

  type() {
    const value = Number(this.number.value), { min, max } = this.parameter;
    if (this.number.value === '' || !isFinite(value)) { this.show(this.parameter, this.value); return; }
    const allowed = Math.min(Math.max(value, min === null ? -Infinity : min), max === null ? Infinity : max);
    this.show(this.parameter, allowed);
    sendValues({ [this.parameter.name]: allowed }, false);
  }

  /** What the server says; not over what is being moved. */
  show(parameter, value) {
    this.parameter = parameter;
    if (this.dragged || (document.activeElement === this.number && this.number.value !== '' && this.value !== undefined && Number(this.number.value) !== this.value)) return;
    const { low, high, step } = rangeOf(parameter, value);
    this.value = value;
    this.slider.min = String(low);
    this.slider.max = String(high);
    this.slider.step = String(step);
    this.slider.value = String(value);
    this.number.value = plainNumber(value);
    this.low.textContent = plainNumber(low);
    this.high.textContent = plainNumber(high);
    this.unit.textContent = parameter.unit;
    this.label.title = parameter.description;
    this.text.textContent = parameter.description;
    this.text.hidden = !parameter.description;
    this.reset.title = this.reset.ariaLabel = `As in the file: ${plainNumber(parameter.base)}`;
    this.box.classList.toggle('moved', value !== parameter.base);
  }
}

const rows = new Map();

/** Brings the rows to the parameters of the state; rows that stay keep their elements. */
function showParameters(state) {
  const free = state.parameters.filter((one) => typeof one.base === 'number');
  const bound = state.parameters.filter((one) => typeof one.base !== 'number');
  const names = free.map((one) => one.name);
  for (const [name, row] of rows) if (!names.includes(name)) { row.box.remove(); rows.delete(name); }
  free.forEach((one, index) => {
    if (!rows.has(one.name)) rows.set(one.name, new Row(one));
    const row = rows.get(one.name), place = $('rows').children[index];
    if (place !== row.box) $('rows').insertBefore(row.box, place || null);
    if (!outbox.busy) row.show(one, one.name in state.values ? state.values[one.name] : one.base);
  });
  $('derived').hidden = bound.length === 0;
  $('derived').replaceChildren(...bound.map((one) => {
    const line = element('tr');
    line.append(element('td', one.name), element('td', `${Number(one.value.toPrecision(6))} ${one.unit}`), element('td', `= ${one.expression || ''}`));
    return line;
  }));
  $('parameters').hidden = state.parameters.length === 0;
  $('reset-all').hidden = Object.keys(state.values).length === 0;
  $('range-note').hidden = !free.some((one) => one.min === null || one.max === null);
}

$('reset-all').addEventListener('click', () => sendValues(Object.fromEntries([...rows.keys()].map((name) => [name, null])), false));
