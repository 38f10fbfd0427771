// The page: buttons, sliders, keys, the clock.

const $ = (id) => document.getElementById(id);
const settings = new URLSearchParams(location.hash.slice(1)); // #t=0.5&paused&theme=dark&show=joints

// movedAt: when something was moved last; pace and rest: milliseconds between ticks while it moves, and not
const player = { time: 0, playing: false, speed: 1, loop: true, last: 0, dirty: true, movedAt: 0, pace: 16, rest: 16 };
let stage, plot, labels;

// --- time -------------------------------------------------------------------------------------

const timeDigits = Math.max(0, Math.min(6, 3 - Math.floor(Math.log10(duration || 1))));

function moved() {
  player.movedAt = performance.now();
  player.dirty = true;
}

function seek(time) {
  player.time = Math.min(Math.max(time, 0), duration);
  moved();
}

function step(frames) {
  pause();
  const frame = frameAt(player.time + 1e-9 * duration);
  seek(times[Math.min(Math.max(frame + frames, 0), numFrames - 1)]);
}

function setPlaying(playing) {
  player.playing = playing && duration > 0;
  player.last = performance.now();
  if (player.playing && player.time >= duration) player.time = 0;
  $('play').setAttribute('aria-label', player.playing ? 'Pause' : 'Play');
  $('play-icon').setAttribute('d', player.playing ? 'M3 2h4v12H3zM9 2h4v12H9z' : 'M3 1.5v13l11-6.5z');
  player.dirty = true;
}
function play() { setPlaying(true); }
function pause() { setPlaying(false); }

function setSpeed(speed) {
  player.speed = speed;
  if (![...$('speed').options].some((one) => Number(one.value) === speed)) $('speed').append(option(String(speed), `${speed}\u00d7`));
  $('speed').value = String(speed);
}

/** One turn of the clock. */
function tick(now) {
  requestAnimationFrame(tick);
  if (player.playing) {
    let time = player.time + ((now - player.last) / 1000) * player.speed;
    if (time >= duration) {
      if (player.loop) time %= duration;
      else { time = duration; pause(); }
    }
    player.time = time;
    player.dirty = true;
  }
  adaptPixels(now);
  player.last = now;
  if (player.dirty) draw();
}

/** Less fine light, then fewer pixels, while things move too slowly; all of it when they rest. */
function adaptPixels(now) {
  if (video.recorder) return;
  const moving = player.playing || now - player.movedAt < 300, part = moving ? 'pace' : 'rest';
  player[part] = 0.9 * player[part] + 0.1 * Math.min(now - player.last, 100);
  let { ratio, fine } = moving ? stage : { ratio: stage.stillRatio, fine: !crowded };
  if (moving) ratio = Math.min(ratio, stage.fullRatio);
  if (moving && software) fine = false;
  else if (moving && player.pace > 28) fine = false;
  if (moving && !fine && player.pace > 1.25 * Math.max(player.rest, 16)) ratio = Math.max(0.75 * ratio, 0.5 * stage.fullRatio);
  if (!moving || ratio !== stage.ratio || fine !== stage.fine) player.pace = Math.min(player.rest, 24);
  if (ratio === stage.ratio && fine === stage.fine) return;
  stage.fine = fine;
  if (ratio !== stage.ratio) stage.setRatio(ratio);
  player.dirty = true;
}

function draw() {
  player.dirty = false;
  stage.setTime(player.time);
  stage.render();
  labels.draw();
  showCompass();
  showNote();
  plot.draw(player.time);
  showTime();
}

/** Width of the grid's cells, and what the longest arrows stand for. */
function showNote() {
  const lines = ['forces', 'reactions', 'torques'].filter((key) => stage.isShown(key))
    .map((key) => `${stage.layers.get(key).title.toLowerCase()} up to ${stage.layers.get(key).parts[0].legend}`);
  if (stage.isShown('floor')) lines.push(`grid ${formatNumber(stage.cell)} m`);
  const text = lines.join('\n');
  if ($('note').textContent !== text) $('note').textContent = text;
}

function showTime() {
  const text = player.time.toFixed(timeDigits);
  $('time').value = `${text} / ${duration.toFixed(timeDigits)} s`;
  $('scrub').value = String(frameAt(player.time));
  if (player.playing) return; // else screen readers would read all the time
  $('scrub').setAttribute('aria-valuetext', `${text} s`);
  $('plot').setAttribute('aria-valuenow', text);
  $('plot').setAttribute('aria-valuetext', `${text} s`);
}

function showCompass() {
  const colors = { x: '#d55e00', y: '#009e73', z: 'var(--s1)', g: 'var(--soft)' };
  const text = stage.compass().sort((a, b) => a[3] - b[3]).map(([name, x, y]) => {
    const far = name === 'g' ? 30 : 40, [ex, ey, tx, ty] = [far * x, far * y, (far + 11) * x, (far + 11) * y].map((v) => v.toFixed(1));
    return `<line x1="0" y1="0" x2="${ex}" y2="${ey}" stroke="${colors[name]}" stroke-width="3" stroke-linecap="round"${name === 'g' ? ' stroke-dasharray="1 6"' : ''}/>` +
      `<text x="${tx}" y="${ty}" fill="${colors[name]}">${name}</text>`;
  }).join('');
  if (text === player.compass) return;
  player.compass = text;
  $('compass').innerHTML = text;
}

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
  if (video.recorder) { video.recorder.stop(); return; }
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

/** To start with: where the body that goes furthest is, without what stays. */
function plotFirst() {
  const travel = (i) => scene.ranges[2 * i + 1] - scene.ranges[2 * i];
  const all = Array.from({ length: 3 * numBodies }, (_, i) => travel(i));
  const most = all.indexOf(Math.max(...all)), body = Math.floor(most / 3);
  const moving = [0, 1, 2].filter((c) => all[3 * body + c] > 1e-6 * all[most] || all[most] === 0);
  plot.add(moving.map((c) => `${scene.bodies[body].name}.position.${'xyz'[c]}`));
}

// --- mouse and keys -----------------------------------------------------------------------------

function showTip(event) {
  const body = event.buttons ? -1 : stage.pick(event.offsetX, event.offsetY);
  $('tip').hidden = body < 0;
  if (body < 0) return;
  $('tip').textContent = scene.bodies[body].name;
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
  x: () => setOpacity(stage.opacity < 1 ? 1 : 0.4), h: nextPolhode, p: togglePanel, s: savePicture, v: saveVideo,
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
  $('parallel').addEventListener('click', () => setParallel(!stage.view.parallel));
  for (const button of document.querySelectorAll('[data-view]')) button.addEventListener('click', () => look(button.dataset.view));
  $('panel').addEventListener('click', togglePanel);
  $('notice-close').addEventListener('click', () => notify(''));
  $('save-picture').addEventListener('click', savePicture);
  $('save-video').addEventListener('click', saveVideo);
  $('save-video').hidden = !videoType();
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
  new ResizeObserver(() => { stage.resize(); draw(); }).observe($('stage'));
  new ResizeObserver(() => plot.resize()).observe($('plot'));
  matchMedia('(prefers-color-scheme: dark)').addEventListener('change', (event) => setTheme(event.matches));
}

// --- start --------------------------------------------------------------------------------------

/** What tests and other pages may ask and do. */
function publish() {
  window.polhode = {
    state: () => ({
      time: player.time, playing: player.playing, speed: player.speed, loop: player.loop, duration,
      frames: numFrames, frame: frameAt(player.time), bodies: numBodies, dark: stage.dark, followed: stage.view.followed,
      parallel: stage.view.parallel, opacity: stage.opacity, polhode: stage.polhode.body, steady: stage.polhode.body >= 0 && stage.polhode.data.steady,
      span: stage.span, software, still: !player.dirty && stage.ratio === stage.stillRatio && stage.fine === !crowded, notice: $('notice').hidden ? '' : $('notice-text').textContent, gears: gearWheels.map((wheel) => wheel.teeth),
      positions: Array.from(pose.x), quaternions: Array.from(pose.q),
      camera: stage.camera.position.toArray().map((x, c) => x + origin[c]),
      target: stage.controls.target.toArray().map((x, c) => x + origin[c]), plotted: plot.series.map((one) => one.name),
      shown: [...stage.layers.values()].filter((layer) => layer.shown).map((layer) => layer.key),
      drawCalls: stage.calls.calls, triangles: stage.calls.triangles,
    }),
    play, pause, seek, step, setSpeed, setTheme, follow, look, resetView, setParallel, setOpacity, show: setShown, plot: addQuantity,
    polhode: choosePolhode,
    /** Bytes of what the buttons save, in base64. */
    save: async (kind) => {
      const blob = await { png: takePicture, webm: () => recordVideo(2), glb: makeGltf }[kind]();
      return new Promise((done) => { const reader = new FileReader(); reader.onload = () => done(reader.result.split(',')[1]); reader.readAsDataURL(blob); });
    },
    pick: (x, y) => stage.pick(x, y),
    channels: () => [...channels.keys()],
    /** What a layer is made of: [[name, copies]]. */
    drawn: (key) => (stage.layers.get(key).parts || []).map((part) => [part.name, part.count || 1]),
    /** Wheels with teeth now: centre, radius, and the angle of a tooth about z. */
    gears: () => gearWheels.map((wheel) => {
      const { marker } = wheel, tooth = turned(marker.body, turnedBy(marker.rotation, [Math.cos(wheel.phase), Math.sin(wheel.phase), 0]), [0, 0, 0]);
      return { teeth: wheel.teeth, radius: wheel.radius, center: pointOf(marker.body, marker.position, [0, 0, 0]), tooth: Math.atan2(tooth[1], tooth[0]) };
    }),
    /** The curve x on the ellipsoid x.Jx = 1 in principal axes, and in space, three numbers each. */
    poinsot: () => ({ J: stage.polhode.data.J, x: Array.from(stage.polhode.data.x), space: Array.from({ length: numFrames }, (_, f) => stage.polhode.atFrame(f, new THREE.Vector3()).toArray()).flat() }),
    /** Draws `count` frames spread over the whole time; the milliseconds of each, with the GPU done.  The
     * ratio of pixels is that of the screen, down to half of it while things move too slowly. */
    measure: (count, ratio = stage.fullRatio, fine = !software) => {
      stage.setRatio(ratio);
      stage.fine = fine;
      const gl = stage.renderer.getContext(), pixel = new Uint8Array(4), list = [];
      for (let i = 0; i < count; i++) {
        const start = performance.now();
        player.time = (duration * ((i * 7919) % count)) / count;
        draw();
        gl.readPixels(0, 0, 1, 1, gl.RGBA, gl.UNSIGNED_BYTE, pixel);
        list.push(performance.now() - start);
      }
      return list;
    },
    /** Scrubs for `count` ticks of the browser's clock; the milliseconds between them. */
    scrub: async (count) => {
      const list = [];
      for (let i = 0, last = 0; i <= count; i++) {
        const now = await new Promise(requestAnimationFrame);
        if (i > 0) list.push(now - last);
        last = now;
        seek((duration * ((i * 7919) % count)) / count);
      }
      return list;
    },
    /** The same without drawing: pose and matrices alone. */
    work: (count) => Array.from({ length: count }, (_, i) => {
      const start = performance.now();
      stage.setTime((duration * ((i * 7919) % count)) / count);
      return performance.now() - start;
    }),
  };
}

/** What the address may ask for: key -> what to do with its value; gives what is wrong with it, or nothing. */
const settingKeys = {
  t: (value) => (isFinite(value) && value !== '' ? seek(Number(value)) : 'must be a time in seconds'),
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
  turn: (value) => {
    const angles = value.split(',').map((angle) => (Number(angle) * Math.PI) / 180);
    if (angles.length !== 2 || !angles.every(isFinite)) return 'must be two angles in degrees';
    stage.view.orbit(...angles);
  },
  zoom: (value) => (Number(value) > 0 ? stage.view.zoom(1 / Number(value)) : 'must be above 0'),
  panel: (value) => { if (value === '0' && !document.body.classList.contains('wide')) togglePanel(); },
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

function start() {
  const name = scene.name || 'polhode';
  document.title = `${name} \u2013 polhode`;
  $('title').textContent = $('title').title = name;
  $('subtitle').textContent = `${numBodies} ${numBodies === 1 ? 'body' : 'bodies'}, ${numFrames} ${numFrames === 1 ? 'frame' : 'frames'}, polhode ${scene.version}`;
  $('scrub').max = String(numFrames - 1);
  $('plot').setAttribute('aria-valuemin', '0');
  $('plot').setAttribute('aria-valuemax', duration.toFixed(timeDigits));
  setPose(0);
  stage = new Stage($('view'));
  labels = new Labels($('labels'), stage);
  plot = new Plot($('plot'), $('cursor'), $('legend'), (time) => { pause(); seek(time); });
  stage.resize();
  stage.view.look('home');
  addCheckboxes();
  fillLists();
  setSpeed(sensibleSpeed(stage.span));
  plotFirst();
  setTheme(matchMedia('(prefers-color-scheme: dark)').matches);
  connect();
  plot.resize();
  $('arrows-row').hidden = true;
  publish();
  applySettings();
  draw();
  requestAnimationFrame(tick);
}

try {
  start();
} catch (error) {
  $('broken').hidden = false;
  $('broken').textContent = `The view cannot be shown: ${error.message}`;
  throw error;
}
