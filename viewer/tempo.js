// How fast to play: the characteristic time of the motion, and the speed that shows it in a few seconds.

/** Mean time between crossings of the middle, twice: the period of a series; 0 if it does not go back and forth. */
function periodOf(at) {
  let low = Infinity, high = -Infinity;
  for (let f = 0; f < numFrames; f++) {
    const y = at(f);
    if (isFinite(y)) { low = Math.min(low, y); high = Math.max(high, y); }
  }
  const middle = 0.5 * (low + high), margin = 0.1 * (high - low);
  let side = 0, first = 0, last = 0, count = 0;
  for (let f = 0; f < numFrames; f++) {
    const y = at(f) - middle, now = y > margin ? 1 : y < -margin ? -1 : side; // small waves do not count
    if (now !== side && side !== 0) { if (count === 0) first = times[f]; last = times[f]; count++; }
    side = now;
  }
  return count >= 2 && last > first ? (2 * (last - first)) / (count - 1) : 0;
}

/** The time of one turn of the body that turns most, from the angles between frames; 0 if none turns once. */
function turnTime() {
  let most = 0;
  for (let b = 0; b < Math.min(numBodies, 50); b++) {
    let angle = 0;
    for (let f = 1; f < numFrames; f++) {
      let dot = 0;
      for (let c = 0; c < 4; c++) dot += (rotations[4 * (numBodies * f + b) + c] - 32768) * (rotations[4 * (numBodies * (f - 1) + b) + c] - 32768);
      angle += 2 * Math.acos(Math.min(Math.abs(dot) / (32767 * 32767), 1));
    }
    most = Math.max(most, angle);
  }
  return most > 2 * Math.PI ? (2 * Math.PI * duration) / most : 0;
}

/** The period of the coordinates that move most; else the time of a turn; else the whole time.  Rows that are the
 * phases of a vibration are one period, so they are shown as a whole. */
function characteristicTime() {
  if (!(duration > 0)) return 0;
  const travel = Array.from({ length: 3 * numBodies }, (_, i) => scene.ranges[2 * i + 1] - scene.ranges[2 * i]);
  const order = travel.map((size, i) => i).sort((a, b) => travel[b] - travel[a]), most = travel[order[0]];
  const size = scene.bodies.reduce((largest, body) => Math.max(largest, ...body.size), 0);
  const periods = most > 1e-3 * size ? order.slice(0, 30).filter((i) => travel[i] > 0.3 * most)
    .map((i) => periodOf((f) => positionStep[i] * positions[3 * numBodies * f + i])).filter((period) => period > 0).sort((a, b) => a - b) : [];
  const period = periods.length ? periods[periods.length >> 1] : most > 1e-3 * size ? 0 : turnTime();
  return period > 0 && period < duration ? period : duration;
}

const speeds = [0.0001, 0.0002, 0.0005, 0.001, 0.002, 0.005, 0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1, 2, 5, 10, 20, 50, 100, 1000];

/** A speed at which one period takes about three seconds, the whole five minutes at most; that of the clock where
 * it comes near to it. */
function sensibleSpeed(span) {
  if (!(span > 0) || (span >= 1.2 && span <= 8)) return 1;
  const wanted = Math.max(span / 3, duration / 300);
  return speeds.reduce((best, one) => (Math.abs(Math.log(one / wanted)) < Math.abs(Math.log(best / wanted)) ? one : best), 1);
}
