// The clock: time, playing, speed, and drawing as often and as finely as the machine can.

const $ = (id) => document.getElementById(id);

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
  if (video.running) return;
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
  if (stage.isShown('compared')) lines.push(`pale: ${other.title}`);
  if (stage.isShown('floor')) lines.push(`grid ${formatNumber(stage.cell)} m`);
  const text = lines.join('\n');
  if ($('note').textContent !== text) $('note').textContent = text;
}

function showTime() {
  const text = player.time.toFixed(timeDigits), unit = scene.axis.unit && ` ${scene.axis.unit}`;
  $('time').value = `${text} / ${duration.toFixed(timeDigits)}${unit}`;
  $('scrub').value = String(frameAt(player.time));
  if (player.playing) return; // else screen readers would read all the time
  $('scrub').setAttribute('aria-valuetext', `${text}${unit}`);
  $('plot').setAttribute('aria-valuenow', text);
  $('plot').setAttribute('aria-valuetext', `${text}${unit}`);
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
