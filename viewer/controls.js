// Buttons, sliders, lists, keys and mouse.

// --- settings of the view -----------------------------------------------------------------------

const otherNames = { shapes: 'bodies', names: 'labels', reaction: 'reactions', grid: 'floor' };

function setShown(name, shown) {
  const key = otherNames[name] || name, layer = stage.layers.get(key);
  if (!layer || !layer.available) return Boolean(layer);
  layer.shown = shown;
  $(`show-${key}`).checked = shown;
  const arrows = ['forces', 'reactions', 'torques'].some((name) => stage.layers.get(name).shown);
  $('arrows-row').hidden = !arrows;
  player.dirty = true;
  return true;
}

function addCheckboxes() {
  for (const layer of stage.layers.values()) {
    const label = document.createElement('label');
    const box = document.createElement('input');
    box.type = 'checkbox';
    box.id = `show-${layer.key}`;
    box.checked = layer.shown;
    box.addEventListener('change', () => setShown(layer.key, box.checked));
    if (!layer.available) label.dataset.none = '';
    label.append(box, layer.title);
    $('show').append(label);
  }
}

function setTheme(dark) {
  document.documentElement.dataset.theme = dark ? 'dark' : 'light';
  $('theme').setAttribute('aria-pressed', String(dark));
  stage.setTheme(dark);
  plot.refresh();
  player.dirty = true;
}

function follow(body) {
  stage.view.follow(body);
  $('follow').value = String(body);
  player.dirty = true;
}

function look(name) {
  follow(-1);
  stage.view.look(name);
  $('follow').value = String(stage.view.followed);
  moved();
}

function setParallel(parallel) {
  stage.view.parallel = parallel;
  $('parallel').setAttribute('aria-pressed', String(parallel));
  moved();
}

function setOpacity(opacity) {
  stage.setOpacity(Math.min(Math.max(opacity, 0.05), 1));
  $('opacity').value = String(stage.opacity);
  player.dirty = true;
}

function choosePolhode(body) {
  stage.polhode.choose(body);
  $('polhode').value = String(stage.polhode.body);
  $('polhode-note').textContent = stage.polhode.note();
  $('polhode-note').hidden = stage.polhode.body < 0;
  // the ellipsoid would be hidden in its body
  if (stage.polhode.body >= 0 && stage.opacity > 0.4) setOpacity(0.35);
  else if (stage.polhode.body < 0) setOpacity(1);
  player.dirty = true;
}

function nextPolhode() {
  let body = stage.polhode.body + 1;
  while (body < numBodies && !canPolhode(body)) body++;
  choosePolhode(body < numBodies ? body : -1);
}

function togglePanel() {
  const wide = document.body.classList.toggle('wide');
  $('panel').setAttribute('aria-pressed', String(!wide));
}

/** Says something on the page that is not an error of the program. */
function notify(text) {
  $('notice').hidden = !text;
  $('notice-text').textContent = text;
}

async function saveVideo() {
  if (video.running) { video.stopped = true; return; }
  $('save-video').textContent = 'Stop';
  try {
    download(await recordVideo(), fileName('webm'));
  } catch (error) {
    notify(`The video cannot be recorded: ${error.message}`);
  }
  $('save-video').textContent = 'Video';
}

async function savePicture() {
  download(await takePicture(), fileName('png'));
}

function toggleLoop() {
  player.loop = !player.loop;
  $('loop').setAttribute('aria-pressed', String(player.loop));
}

function toggleFullscreen() {
  if (document.fullscreenElement) document.exitFullscreen();
  else document.documentElement.requestFullscreen().catch(() => {});
}

function resetView() {
  setParallel(false);
  look('home');
}

// --- lists --------------------------------------------------------------------------------------

function option(value, text) {
  const element = document.createElement('option');
  element.value = value;
  element.textContent = text;
  return element;
}

function fillLists() {
  scene.bodies.forEach((body, index) => {
    $('follow').append(option(String(index), body.name));
    if (canPolhode(index)) $('polhode').append(option(String(index), body.name));
  });
  for (const row of document.querySelectorAll('[data-elastic]')) row.hidden = !elasticQuantities().length;
  for (const key of elasticQuantities()) $('elastic-color').append(option(key, key));
  $('polhode-row').hidden = $('polhode').options.length < 2;
  for (const speed of speeds) $('speed').append(option(String(speed), `${speed}\u00d7`));
  $('quantity').append(option('', 'add a quantity \u2026'));
  for (const [owner, group] of quantities()) {
    const element = document.createElement('optgroup');
    element.label = owner;
    for (const [key, names] of group)
      element.append(option(key, names.length > 1 ? `${key} (${names.map((name) => name.split('.').pop()).join(', ')})` : names[0]));
    $('quantity').append(element);
  }
}

function addQuantity(key) {
  const names = [...channels.keys()].filter((name) => name === key || (name.startsWith(`${key}.`) && !name.slice(key.length + 1).includes('.')));
  plot.add(names);
  return names.length > 0;
}

// --- mouse and keys -----------------------------------------------------------------------------

function showTip(event) {
  const body = event.buttons ? -1 : stage.pick(event.offsetX, event.offsetY);
  $('tip').hidden = body < 0;
  if (body < 0) return;
  $('tip').textContent = `${scene.bodies[body].name}${thinnedNodes(body)}`;
  $('tip').style.left = `${event.offsetX}px`;
  $('tip').style.top = `${event.offsetY}px`;
}

const turnStep = Math.PI / 24;
const viewKeys = {
  ArrowLeft: () => stage.view.orbit(-turnStep, 0), ArrowRight: () => stage.view.orbit(turnStep, 0),
  ArrowUp: () => stage.view.orbit(0, -turnStep), ArrowDown: () => stage.view.orbit(0, turnStep),
  '+': () => stage.view.zoom(1 / 1.15), '=': () => stage.view.zoom(1 / 1.15), '-': () => stage.view.zoom(1.15),
};
Object.keys(standardViews).forEach((name, number) => { viewKeys[number] = () => look(name); });
const pageKeys = {
  ' ': () => setPlaying(!player.playing), ',': () => step(-1), '.': () => step(1),
  '[': () => setSpeed(speeds.filter((one) => one < player.speed).pop() || speeds[0]),
  ']': () => setSpeed(speeds.find((one) => one > player.speed) || speeds[speeds.length - 1]),
  o: () => setParallel(!stage.view.parallel), n: () => setShown('labels', !stage.isShown('labels')), g: () => setShown('ghosts', !stage.isShown('ghosts')),
  x: () => setOpacity(stage.opacity < 1 ? 1 : 0.4), h: nextPolhode, p: togglePanel, s: savePicture, v: saveVideo, c: copyAddress,
  r: resetView, l: toggleLoop, f: toggleFullscreen, d: () => setTheme(!stage.dark), '?': () => $('help').showModal(),
  Home: () => seek(0), End: () => seek(duration),
};
const plotKeys = { ArrowLeft: () => step(-1), ArrowRight: () => step(1) };

/** Keys of the page, except where an element has a use for them. */
function onKey(event) {
  if (event.ctrlKey || event.metaKey || event.altKey || $('help').open) return;
  const target = event.target;
  const tag = target.tagName;
  if (tag === 'SELECT' || (tag === 'INPUT' && target.type === 'range' && /^(Arrow|Home|End|Page)/.test(event.key))) return;
  if (event.key === ' ' && (tag === 'BUTTON' || (tag === 'INPUT' && target.type === 'checkbox'))) return;
  const key = event.key.length === 1 ? event.key.toLowerCase() : event.key;
  const action = (target.id === 'plot' && plotKeys[key]) || pageKeys[key] || viewKeys[key];
  if (!action) return;
  event.preventDefault();
  action();
  moved();
}

function connect() {
  $('play').addEventListener('click', () => setPlaying(!player.playing));
  $('back').addEventListener('click', () => step(-1));
  $('forth').addEventListener('click', () => step(1));
  $('loop').addEventListener('click', toggleLoop);
  $('reset').addEventListener('click', resetView);
  $('fullscreen').addEventListener('click', toggleFullscreen);
  $('theme').addEventListener('click', () => setTheme(!stage.dark));
  $('help-button').addEventListener('click', () => $('help').showModal());
  $('clear').addEventListener('click', () => plot.clear());
  $('scrub').addEventListener('input', () => { pause(); seek(times[Number($('scrub').value)]); });
  $('speed').addEventListener('change', () => setSpeed(Number($('speed').value)));
  $('follow').addEventListener('change', () => follow(Number($('follow').value)));
  $('polhode').addEventListener('change', () => choosePolhode(Number($('polhode').value)));
  $('opacity').addEventListener('input', () => setOpacity(Number($('opacity').value)));
  $('elastic-color').addEventListener('change', () => colorElastic($('elastic-color').value));
  $('elastic-scale').addEventListener('input', () => scaleElastic(Math.pow(10, Number($('elastic-scale').value))));
  $('parallel').addEventListener('click', () => setParallel(!stage.view.parallel));
  for (const button of document.querySelectorAll('[data-view]')) button.addEventListener('click', () => look(button.dataset.view));
  $('panel').addEventListener('click', togglePanel);
  $('notice-close').addEventListener('click', () => notify(''));
  $('save-picture').addEventListener('click', savePicture);
  $('save-video').addEventListener('click', saveVideo);
  $('save-video').hidden = typeof VideoEncoder === 'undefined' && typeof MediaRecorder === 'undefined';
  $('copy-link').addEventListener('click', copyAddress);
  $('save-gltf').addEventListener('click', () => download(makeGltf(), fileName('glb')));
  $('quantity').addEventListener('change', () => { addQuantity($('quantity').value); $('quantity').value = ''; });
  $('arrows').addEventListener('input', () => { stage.arrowScale = Math.pow(10, Number($('arrows').value)); player.dirty = true; });
  $('view').addEventListener('pointermove', showTip);
  $('view').addEventListener('pointerleave', () => { $('tip').hidden = true; });
  $('view').addEventListener('dblclick', (event) => follow(stage.pick(event.offsetX, event.offsetY)));
  // OrbitControls tell of changes above a thousandth only, which may be all there is
  for (const name of ['pointermove', 'wheel', 'touchmove'])
    document.addEventListener(name, (event) => { if (event.buttons || name !== 'pointermove') moved(); }, { passive: true });
  document.addEventListener('keydown', onKey);
  // drawn at once, or the picture that comes next would be empty
  new ResizeObserver(() => { if (stage.refit()) draw(); }).observe($('stage'));
  new ResizeObserver(() => plot.resize()).observe($('plot'));
  matchMedia('(prefers-color-scheme: dark)').addEventListener('change', (event) => setTheme(event.matches));
}
