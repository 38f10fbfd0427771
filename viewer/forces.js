// Forces, reactions and torques as arrows, as long as suits what is on the screen.

/** Turns a vector of a body into global axes. */
function turned(body, v, out) {
  const m = pose.m, at = matrixOf(body);
  for (let r = 0; r < 3; r++) out[r] = m[at + 4 * r] * v[0] + m[at + 4 * r + 1] * v[1] + m[at + 4 * r + 2] * v[2];
  return out;
}

/** What is recorded as three channels: {body, point, vector(time, out), largest}.  A short peak does not count as
 * the largest: 98 of 100 frames have less. */
function recordedArrow(name, body, point) {
  const three = vectorChannel(name);
  if (!three) return null;
  const sizes = Array.from({ length: numFrames }, (_, i) => Math.hypot(three[0].at(i), three[1].at(i), three[2].at(i)) || 0).sort((a, b) => a - b);
  const largest = sizes[Math.floor(0.98 * (numFrames - 1))] || sizes[numFrames - 1];
  const vector = (time, out) => three.forEach((channel, c) => { out[c] = valueAt(channel, time) || 0; });
  return { body, point, vector, largest };
}

function constantArrow(force) {
  const global = force.frame === 'global';
  const vector = (time, out) => {
    if (global) for (let c = 0; c < 3; c++) out[c] = force.vector[c];
    else turned(force.body, force.vector, out);
  };
  return { body: force.body, point: force.type === 'force' ? force.point : [0, 0, 0], vector, largest: Math.hypot(...force.vector) };
}

function jointArrows(what) {
  return scene.joints.map((joint) => {
    const marker = scene.markers[joint.markers[1]];
    return recordedArrow(`${joint.name}.${what}`, marker.body, marker.position);
  }).filter((arrow) => arrow && arrow.largest > 0);
}

function forceArrows() {
  return scene.forces.map((force) => {
    if (force.type === 'force') return recordedArrow(`${force.name}.force`, force.body, force.point) || constantArrow(force);
    const marker = scene.markers[force.markers[1]];
    if (force.type === 'support') return recordedArrow(`${force.name}.force`, force.body, force.point);
    if (force.type === 'drag') return recordedArrow(`${force.name}.force`, force.body, [0, 0, 0]);
    return marker ? recordedArrow(`${force.name}.force`, marker.body, marker.position) : null;
  }).filter((arrow) => arrow && arrow.largest > 0);
}

function torqueArrows() {
  const constant = scene.forces.filter((force) => force.type === 'torque').map(constantArrow);
  // what forces of this size would give by round-off is no torque
  const forces = Math.max(0, ...jointArrows('force').map((arrow) => arrow.largest));
  return constant.concat(jointArrows('torque')).filter((arrow) => arrow.largest > 1e-9 * forces * extent);
}

/** The largest value of the arrows that are in the picture now. */
function largestSeen(stage, arrows) {
  const at = new THREE.Vector3();
  let largest = 0;
  for (const arrow of arrows) {
    at.fromArray(pointOf(arrow.body, arrow.point, [0, 0, 0])).project(stage.camera);
    if (Math.abs(at.x) < 1.05 && Math.abs(at.y) < 1.05 && Math.abs(at.z) < 1) largest = Math.max(largest, arrow.largest);
  }
  return largest || Math.max(...arrows.map((arrow) => arrow.largest));
}

/** Shafts and heads; a torque has two heads.  The largest in the picture has a fifth of the picture's height. */
function arrowMeshes(stage, arrows, color, heads, unit) {
  const material = stage.materials.make(color, { roughness: 0.4 });
  const shafts = makeCopies(merged(placed(cylinder(1, 1), 0, 0, 0.5)), material, arrows.length);
  const cones = makeCopies(placed(alongZ(new THREE.ConeBufferGeometry(1, 1, 24)), 0, 0, 0.5), material, heads * arrows.length);
  const point = [0, 0, 0], v = [0, 0, 0];
  shafts.castShadow = cones.castShadow = false;
  shafts.follow = () => {
    const seen = stage.seenHeight(), longest = 0.2 * seen * stage.arrowScale, largest = largestSeen(stage, arrows), scale = longest / largest;
    shafts.legend = `${formatNumber(largest, 2)} ${unit}`;
    arrows.forEach((arrow, i) => {
      pointOf(arrow.body, arrow.point, point);
      arrow.vector(stage.time, v);
      const length = scale * Math.hypot(v[0], v[1], v[2]);
      const head = Math.min(0.035 * seen, 0.4 * length), thin = Math.min(0.0042 * seen, 0.12 * length);
      const part = length > 0 ? scale / length : 0;
      writeAlong(shafts.matrices, 16 * i, point, v, thin, length - head);
      for (let k = 0; k < heads; k++) {
        const at = length - head * (1 + 0.7 * k);
        const tip = [0, 1, 2].map((c) => point[c] + at * part * v[c]);
        writeAlong(cones.matrices, 16 * (heads * i + k), tip, v, 0.36 * head, head);
      }
    });
    shafts.place();
    cones.place();
  };
  return [shafts, cones];
}
