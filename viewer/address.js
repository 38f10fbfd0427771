// Settings in the address of the page.

const settings = new URLSearchParams(location.hash.slice(1)); // #t=0.5&paused&theme=dark&show=joints

/** What the address may ask for: key -> what to do with its value; gives what is wrong with it, or nothing. */
const settingKeys = {
  panel: (value) => {
    if (value === '0' && !document.body.classList.contains('wide')) togglePanel();
    stage.refit(); // the views below are those of the whole page
  },
  t: (value) => {
    if (!isFinite(value) || value === '') return 'must be a time in seconds';
    seek(Number(value));
    setPose(player.time); // views are about where things are then
  },
  paused: () => {},
  theme: (value) => (['dark', 'light'].includes(value) ? setTheme(value === 'dark') : 'must be dark or light'),
  show: (value) => showNamed(value, true),
  hide: (value) => showNamed(value, false),
  plot: (value) => {
    plot.clear();
    const unknown = value.split(',').filter((name) => !addQuantity(name));
    return unknown.length ? `no such quantity: ${unknown.join(', ')}` : undefined;
  },
  speed: (value) => (Number(value) > 0 ? setSpeed(Number(value)) : 'must be above 0'),
  follow: (value) => withBody(value, follow),
  polhode: (value) => withBody(value, choosePolhode),
  view: (value) => (value in standardViews ? look(value) : `must be one of ${Object.keys(standardViews).join(', ')}`),
  parallel: () => setParallel(true),
  opacity: (value) => (Number(value) > 0 && Number(value) <= 1 ? setOpacity(Number(value)) : 'must be above 0 and at most 1'),
  color: (value) => colorElastic(value.replace(/-/g, ' ')),
  deformation: (value) => (Number(value) >= 1 && Number(value) <= 1000 ? scaleElastic(Number(value)) : 'must be from 1 to 1000'),
  turn: (value) => {
    const angles = value.split(',').map((angle) => (Number(angle) * Math.PI) / 180);
    if (angles.length !== 2 || !angles.every(isFinite)) return 'must be two angles in degrees';
    stage.view.orbit(...angles);
  },
  camera: (value) => {
    const numbers = value.split(',').map(Number);
    if (numbers.length !== 6 || !numbers.every(isFinite)) return 'must be six numbers: where the eye is, and the point it looks at';
    stage.view.set(numbers.slice(0, 3), numbers.slice(3));
  },
  zoom: (value) => (Number(value) > 0 ? stage.view.zoom(1 / Number(value)) : 'must be above 0'),
  pixels: (value) => {
    if (!(Number(value) >= 0.25 && Number(value) <= 4)) return 'must be from 0.25 to 4';
    stage.fullRatio = stage.stillRatio = Number(value);
    stage.setRatio(stage.fullRatio);
  },
};

function showNamed(value, shown) {
  const unknown = value.split(',').filter((key) => key && !setShown(key, shown));
  return unknown.length ? `${unknown.join(', ')} is none of ${[...stage.layers.keys()].join(', ')}` : undefined;
}

function withBody(name, action) {
  const body = scene.bodies.findIndex((one) => one.name === name);
  if (body < 0) return `no body has the name ${name}`;
  action(body);
}

/** The address of what is seen now: all that differs from what the page starts with. */
function addressOfView() {
  const layers = [...stage.layers.values()], keysOf = (shown) => layers.filter((layer) => layer.available && layer.shown === shown && layer.atFirst !== shown).map((layer) => layer.key).join();
  const nameOf = (body) => (body >= 0 ? scene.bodies[body].name : ''), short = (x) => Number(x.toPrecision(6));
  const parts = {
    t: String(short(player.time)), paused: !player.playing, theme: stage.dark ? 'dark' : 'light', show: keysOf(true), hide: keysOf(false),
    plot: plot.series.map((one) => one.name).join(), speed: String(player.speed), follow: nameOf(stage.view.followed), polhode: nameOf(stage.polhode.body),
    parallel: stage.view.parallel, opacity: stage.opacity < 1 ? String(short(stage.opacity)) : '', camera: stage.view.get().map(short).join(),
    color: elastic.quantity.replace(/ /g, '-'), deformation: elastic.scale > 1 ? String(short(elastic.scale)) : '',
    panel: document.body.classList.contains('wide') ? '0' : '',
  };
  return `#${Object.entries(parts).filter(([, value]) => value).map(([key, value]) => (value === true ? key : `${key}=${encodeURIComponent(value).replace(/%2C/g, ',')}`)).join('&')}`;
}

/** Puts that address into the bar of the browser and onto the clipboard. */
async function copyAddress() {
  const hash = addressOfView();
  history.replaceState(null, '', hash);
  const copied = await navigator.clipboard.writeText(location.href).then(() => true, () => false);
  notify(`The address of the page now leads to this view${copied ? '; it has been copied' : ''}.`);
}

/** Does what the address asks for, in the order of the keys above; what it does not understand is shown. */
function applySettings() {
  const wrong = [...settings.keys()].filter((key) => !(key in settingKeys)).map((key) => `${key}: unknown, one of ${Object.keys(settingKeys).join(', ')}`);
  for (const [key, action] of Object.entries(settingKeys)) {
    const problem = settings.has(key) ? action(settings.get(key)) : undefined;
    if (problem) wrong.push(`${key}=${settings.get(key)}: ${problem}`);
  }
  if (wrong.length) notify(`The address of this page asks for what it does not have:\n${wrong.join('\n')}`);
  const still = matchMedia('(prefers-reduced-motion: reduce)').matches;
  setPlaying(!settings.has('paused') && !still);
}
