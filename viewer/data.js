// The data of the page: what scene.c and frames.c wrote, and the poses between two frames.

/** Bytes of an element with base64 text; the text is dropped, it may be large. */
function readBytes(id) {
  const element = document.getElementById(id);
  const text = atob(element.textContent);
  const bytes = new Uint8Array(text.length);
  for (let i = 0; i < bytes.length; i++) bytes[i] = text.charCodeAt(i);
  element.remove();
  return bytes.buffer;
}

const scene = JSON.parse(document.getElementById('scene').textContent);
const numBodies = scene.bodies.length;
const times = new Float32Array(readBytes('times'));
const numFrames = times.length;
const positions = new Uint16Array(readBytes('positions'));
const rotations = new Uint16Array(readBytes('rotations'));
const values = new Uint16Array(readBytes('values'));
const duration = times[numFrames - 1];

const none = 65535; // stands for what is no number

/** x = low + step * number, for each coordinate of each body, from the ends of their ranges. */
function unpackRanges(ranges) {
  const low = new Float64Array(3 * numBodies), step = new Float64Array(3 * numBodies);
  for (let i = 0; i < 3 * numBodies; i++) {
    low[i] = ranges[2 * i];
    step[i] = (ranges[2 * i + 1] - ranges[2 * i]) / 65534;
  }
  return { low, step };
}
const { low: positionLow, step: positionStep } = unpackRanges(scene.ranges);

/** The last of the times that is not after a time. */
function frameAt(time, list = times) {
  let low = 0, high = list.length - 1;
  while (low < high) {
    const middle = (low + high + 1) >> 1;
    if (list[middle] <= time) low = middle; else high = middle - 1;
  }
  return low;
}

/** Frame and fraction of the way to the next one. */
function splitTime(time, list = times) {
  const frame = frameAt(time, list);
  if (frame + 1 >= list.length) return [list.length - 1, 0];
  const step = list[frame + 1] - list[frame];
  return [frame, step > 0 ? Math.min(Math.max((time - list[frame]) / step, 0), 1) : 0];
}

/** The place that pictures are drawn about: the global origin, or, for what is small and far from it, one
 * nearby; the graphics have seven digits. */
function findOrigin() {
  const low = [Infinity, Infinity, Infinity], high = [-Infinity, -Infinity, -Infinity];
  for (let i = 0; i < 3 * numBodies; i++) {
    low[i % 3] = Math.min(low[i % 3], scene.ranges[2 * i]);
    high[i % 3] = Math.max(high[i % 3], scene.ranges[2 * i + 1]);
  }
  const size = Math.max(...low.map((x, c) => high[c] - x), ...scene.bodies.map((body) => Math.max(...body.size)));
  const middle = low.map((x, c) => 0.5 * (x + high[c]));
  return Math.max(...middle.map(Math.abs)) > 1000 * size ? middle : [0, 0, 0];
}
const origin = findOrigin();

/** Room for the pose of all bodies: positions, quaternions (w, x, y, z), and 3 x 4 matrices by rows, which are
 * about the origin above.  The ground is the matrix behind the last body. */
function makePose() {
  const m = new Float64Array(12 * (numBodies + 1));
  writeMatrix(m, 12 * numBodies, origin.map((x) => -x), 0, [1, 0, 0, 0], 0);
  return { x: new Float64Array(3 * numBodies), q: new Float64Array(4 * numBodies), m };
}

/** The 3 x 4 matrix of a position and a quaternion. */
function writeMatrix(m, at, x, xAt, q, qAt) {
  const w = q[qAt], i = q[qAt + 1], j = q[qAt + 2], k = q[qAt + 3];
  m[at] = 1 - 2 * (j * j + k * k); m[at + 1] = 2 * (i * j - w * k); m[at + 2] = 2 * (i * k + w * j);
  m[at + 4] = 2 * (i * j + w * k); m[at + 5] = 1 - 2 * (i * i + k * k); m[at + 6] = 2 * (j * k - w * i);
  m[at + 8] = 2 * (i * k - w * j); m[at + 9] = 2 * (j * k + w * i); m[at + 10] = 1 - 2 * (i * i + j * j);
  m[at + 3] = x[xAt]; m[at + 7] = x[xAt + 1]; m[at + 11] = x[xAt + 2];
}

const pose = makePose(); // now
const motion = { times, positions, rotations, low: positionLow, step: positionStep };

/** Where the matrix of a body is; -1 is the ground. */
function matrixOf(body) {
  return 12 * (body < 0 ? numBodies : body);
}

/** The pose of a motion at a time: positions between frames are linear, so are rotations, of length 1.  A body
 * without numbers is nowhere: NaN. */
function writePose({ times: list, positions, rotations, low, step }, time, pose) {
  const [frame, part] = splitTime(time, list);
  const next = Math.min(frame + 1, list.length - 1);
  const p0 = 3 * numBodies * frame, p1 = 3 * numBodies * next;
  for (let i = 0; i < 3 * numBodies; i++) {
    const a = positions[p0 + i], b = positions[p1 + i];
    pose.x[i] = a === none || (part > 0 && b === none) ? NaN : low[i] + step[i] * (a + part * (b - a));
  }
  const r0 = 4 * numBodies * frame, r1 = 4 * numBodies * next;
  for (let b = 0; b < numBodies; b++) {
    const at = 4 * b;
    let dot = 0, square = 0;
    for (let i = at; i < at + 4; i++) dot += (rotations[r0 + i] - 32768) * (rotations[r1 + i] - 32768);
    const sign = dot < 0 ? -part : part; // q and -q are the same rotation
    for (let i = at; i < at + 4; i++) {
      const q = (1 - part) * (rotations[r0 + i] - 32768) + sign * (rotations[r1 + i] - 32768);
      pose.q[i] = q;
      square += q * q;
    }
    const scale = square > 0 ? 1 / Math.sqrt(square) : 0;
    for (let i = at; i < at + 4; i++) pose.q[i] *= scale;
    writeMatrix(pose.m, 12 * b, pose.x, 3 * b, pose.q, at);
    for (let c = 0; c < 3; c++) pose.m[12 * b + 4 * c + 3] -= origin[c];
  }
}

function setPose(time) { writePose(motion, time, pose); }

/** Where a point of a body is now, into out. */
function pointOf(body, point, out) {
  const m = pose.m, at = matrixOf(body);
  for (let r = 0; r < 3; r++) {
    const row = at + 4 * r;
    out[r] = m[row] * point[0] + m[row + 1] * point[1] + m[row + 2] * point[2] + m[row + 3];
  }
  return out;
}

// --- channels ---------------------------------------------------------------------------------

/** What can be plotted, by name: {unit, at(frame)}; NaN where there is no number. */
const channels = new Map();

for (let b = 0; b < numBodies; b++)
  for (let c = 0; c < 3; c++) {
    const i = 3 * b + c;
    channels.set(`${scene.bodies[b].name}.position.${'xyz'[c]}`, {
      unit: 'm',
      at: (frame) => {
        const value = positions[3 * numBodies * frame + i];
        return value === none ? NaN : positionLow[i] + positionStep[i] * value;
      },
    });
  }
scene.channels.forEach((channel, number) => {
  const step = (channel.high - channel.low) / 65534;
  channels.set(channel.name, {
    unit: channel.unit,
    at: (frame) => {
      const value = values[number * numFrames + frame];
      return value === none ? NaN : channel.low + step * value;
    },
  });
});
for (let b = 0; b < numBodies; b++)
  for (let c = 0; c < 4 && !scene.bodies[b].point; c++) {
    const i = 4 * b + c;
    channels.set(`${scene.bodies[b].name}.quaternion.${'wxyz'[c]}`, {
      unit: '1', at: (frame) => (rotations[4 * numBodies * frame + i] - 32768) / 32767,
    });
  }

/** The value of a channel at a time, straight between frames. */
function valueAt(channel, time) {
  const [frame, part] = splitTime(time);
  const a = channel.at(frame);
  return part > 0 ? a + part * (channel.at(frame + 1) - a) : a;
}

/** The three channels NAME.x, .y, .z, or null. */
function vectorChannel(name) {
  const three = ['x', 'y', 'z'].map((c) => channels.get(`${name}.${c}`));
  return three.every(Boolean) ? three : null;
}
