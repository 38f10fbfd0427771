// The page: buttons, sliders, keys, the clock.

const $ = (id) => document.getElementById(id);
const settings = new URLSearchParams(location.hash.slice(1)); // #t=0.5&paused&theme=dark&show=joints

// movedAt: when something was moved last; pace and rest: milliseconds between ticks while it moves, and not
const player = { time: 0, playing: false, speed: 1, loop: true, last: 0, dirty: true, movedAt: 0, pace: 16, rest: 16 };
let stage, plot;

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

/** A speed at which the whole takes some seconds. */
function sensibleSpeed() {
  if (duration >= 4 && duration <= 40) return 1;
  const wanted = duration / 10;
  return speeds.reduce((best, one) => (Math.abs(Math.log(one / wanted)) < Math.abs(Math.log(best / wanted)) ? one : best), 1);
}
const speeds = [0.001, 0.002, 0.005, 0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1, 2, 5, 10, 20, 50, 100, 1000];

function setSpeed(speed) {
  player.speed = speed;
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

/** Fewer pixels while things move too slowly, all of them when they rest. */
function adaptPixels(now) {
  const moving = player.playing || now - player.movedAt < 300;
  const part = moving ? 'pace' : 'rest';
  player[part] = 0.9 * player[part] + 0.1 * Math.min(now - player.last, 100);
  let ratio = moving ? Math.min(stage.ratio, stage.fullRatio) : stage.stillRatio;
  if (moving && player.pace > 1.25 * player.rest) ratio = Math.max(0.75 * ratio, 0.5 * stage.fullRatio);
  if (!moving || ratio !== stage.ratio) player.pace = player.rest;
  if (ratio === stage.ratio) return;
  stage.setRatio(ratio);
  player.dirty = true;
}

function draw() {
  player.dirty = false;
  stage.setTime(player.time);
  if (stage.render()) showCompass();
  plot.draw(player.time);
  showTime();
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
  const arms = stage.compass().sort((a, b) => a[3] - b[3]);
  $('compass').innerHTML = arms.map(([name, x, y]) => {
    const far = name === 'g' ? 30 : 40;
    return `<line x1="0" y1="0" x2="${far * x}" y2="${far * y}" stroke="${colors[name]}" stroke-width="3" stroke-linecap="round"${name === 'g' ? ' stroke-dasharray="1 6"' : ''}/>` +
      `<text x="${(far + 11) * x}" y="${(far + 11) * y}" fill="${colors[name]}">${name}</text>`;
  }).join('');
}

// --- settings of the view -----------------------------------------------------------------------

function setShown(key, shown) {
  const layer = stage.layers.get(key);
  if (!layer || !layer.available) return;
  layer.shown = shown;
  $(`show-${key}`).checked = shown;
  const arrows = ['forces', 'reactions', 'torques'].some((name) => stage.layers.get(name).shown);
  $('arrows-row').hidden = !arrows;
  if (key === 'floor') $('note').hidden = !shown;
  player.dirty = true;
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
  stage.followed = body;
  $('follow').value = String(body);
  player.dirty = true;
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
  follow(-1);
  stage.resetView();
  player.dirty = true;
}

// --- lists --------------------------------------------------------------------------------------

function option(value, text) {
  const element = document.createElement('option');
  element.value = value;
  element.textContent = text;
  return element;
}

function fillLists() {
  scene.bodies.forEach((body, index) => $('follow').append(option(String(index), body.name)));
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
  ArrowLeft: () => stage.orbit(-turnStep, 0), ArrowRight: () => stage.orbit(turnStep, 0),
  ArrowUp: () => stage.orbit(0, -turnStep), ArrowDown: () => stage.orbit(0, turnStep),
  '+': () => stage.zoom(1 / 1.15), '=': () => stage.zoom(1 / 1.15), '-': () => stage.zoom(1.15),
};
const pageKeys = {
  ' ': () => setPlaying(!player.playing), ',': () => step(-1), '.': () => step(1),
  '[': () => setSpeed(speeds[Math.max(speeds.indexOf(player.speed) - 1, 0)]),
  ']': () => setSpeed(speeds[Math.min(speeds.indexOf(player.speed) + 1, speeds.length - 1)]),
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
      frames: numFrames, frame: frameAt(player.time), bodies: numBodies, dark: stage.dark, followed: stage.followed,
      positions: Array.from(pose.x), quaternions: Array.from(pose.q),
      camera: stage.camera.position.toArray().map((x, c) => x + origin[c]),
      target: stage.controls.target.toArray().map((x, c) => x + origin[c]), plotted: plot.series.map((one) => one.name),
      shown: [...stage.layers.values()].filter((layer) => layer.shown).map((layer) => layer.key),
      drawCalls: stage.renderer.info.render.calls, triangles: stage.renderer.info.render.triangles,
    }),
    play, pause, seek, step, setSpeed, setTheme, follow, resetView, show: setShown, plot: addQuantity,
    pick: (x, y) => stage.pick(x, y),
    channels: () => [...channels.keys()],
    /** Draws `count` frames spread over the whole time; the milliseconds of each, with the GPU done.  The
     * ratio of pixels is that of the screen, down to half of it while things move too slowly. */
    measure: (count, ratio = stage.fullRatio) => {
      stage.setRatio(ratio);
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

/** What the address asks for. */
function applySettings() {
  const still = matchMedia('(prefers-reduced-motion: reduce)').matches;
  for (const key of (settings.get('show') || '').split(',').filter(Boolean)) setShown(key, true);
  for (const key of (settings.get('hide') || '').split(',').filter(Boolean)) setShown(key, false);
  if (settings.has('theme')) setTheme(settings.get('theme') === 'dark');
  if (settings.has('speed')) setSpeed(Number(settings.get('speed')) || 1);
  if (settings.has('plot')) { plot.clear(); settings.get('plot').split(',').forEach(addQuantity); }
  if (settings.has('follow')) follow(scene.bodies.findIndex((body) => body.name === settings.get('follow')));
  if (settings.has('turn')) stage.orbit(...settings.get('turn').split(',').map((angle) => (Number(angle) * Math.PI) / 180));
  if (settings.has('zoom')) stage.zoom(1 / (Number(settings.get('zoom')) || 1));
  if (settings.has('t')) seek(Number(settings.get('t')) || 0);
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
  stage = new Stage($('view'), $('floor'));
  plot = new Plot($('plot'), $('cursor'), $('legend'), (time) => { pause(); seek(time); });
  stage.resize();
  stage.resetView();
  addCheckboxes();
  fillLists();
  setSpeed(sensibleSpeed());
  plotFirst();
  setTheme(matchMedia('(prefers-color-scheme: dark)').matches);
  connect();
  plot.resize();
  $('arrows-row').hidden = true;
  publish();
  applySettings();
  draw();
  $('note').textContent = `grid ${formatNumber(stage.cell)} m`;
  requestAnimationFrame(tick);
}

try {
  start();
} catch (error) {
  $('broken').hidden = false;
  $('broken').textContent = `The view cannot be shown: ${error.message}`;
  throw error;
}
