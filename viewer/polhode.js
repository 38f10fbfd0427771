// Poinsot's picture of a rigid body: the inertia ellipsoid x.Jx = 1 about its centre of mass; on it the polhode,
// the path of x = w / sqrt(w.Jw) in the body, w the angular velocity; and the plane that touches the ellipsoid
// there, whose normal is the angular momentum Jw.  Where no torque acts, the plane is the same at all times, the
// ellipsoid rolls on it without slipping, and the path of x on it is the herpolhode.

/** Angular velocities in principal axes at all frames, three numbers each. */
function spinOf(body) {
  const back = new THREE.Quaternion(scene.bodies[body].axes[1], scene.bodies[body].axes[2], scene.bodies[body].axes[3], scene.bodies[body].axes[0]).inverse();
  const recorded = vectorChannel(`${scene.bodies[body].name}.angular_velocity`), list = new Float64Array(3 * numFrames), w = new THREE.Vector3();
  for (let f = 0; f < numFrames; f++) {
    if (recorded) w.set(recorded[0].at(f), recorded[1].at(f), recorded[2].at(f));
    else spinBetween(body, Math.max(f - 2, 0), Math.min(f + 2, numFrames - 1), w);
    w.applyQuaternion(back).toArray(list, 3 * f);
  }
  return list;
}

/** The angular velocity in body axes from the rotations of two frames. */
function spinBetween(body, first, last, out) {
  const at = (f) => {
    const i = 4 * (numBodies * f + body), q = [0, 1, 2, 3].map((c) => (rotations[i + c] - 32768) / 32767);
    return new THREE.Quaternion(q[1], q[2], q[3], q[0]).normalize();
  };
  const turn = at(first).inverse().multiply(at(last)), sign = turn.w < 0 ? -1 : 1, sine = Math.hypot(turn.x, turn.y, turn.z);
  const angle = 2 * Math.atan2(sine, sign * turn.w), step = times[last] - times[first];
  return out.set(turn.x, turn.y, turn.z).multiplyScalar(sine > 0 && step > 0 ? (sign * angle) / (sine * step) : 0);
}

/** Everything about one body: the curve of x in principal axes, energies and momenta. */
function findPolhode(body) {
  const J = scene.bodies[body].moments, w = spinOf(body), x = new Float32Array(3 * numFrames);
  const momentum = new THREE.Vector3(), first = new THREE.Vector3(), q = new THREE.Quaternion(), axes = principalAxes(body), saved = stage.time;
  let drift = 0, energy = [Infinity, 0], last = 0;
  for (let f = 0; f < numFrames; f++) {
    const twice = [0, 1, 2].reduce((sum, c) => sum + J[c] * w[3 * f + c] * w[3 * f + c], 0);
    energy = [Math.min(energy[0], twice), Math.max(energy[1], twice)];
    const scale = twice > 0 ? 1 / Math.sqrt(twice) : 0;
    // at rest there is no direction: the last one stays
    for (let c = 0; c < 3; c++) x[3 * f + c] = scale > 0 ? scale * w[3 * f + c] : x[3 * last + c];
    if (scale > 0) last = f;
    setPose(times[f]);
    q.set(pose.q[4 * body + 1], pose.q[4 * body + 2], pose.q[4 * body + 3], pose.q[4 * body]);
    momentum.set(J[0] * w[3 * f], J[1] * w[3 * f + 1], J[2] * w[3 * f + 2]).applyQuaternion(axes).applyQuaternion(q);
    if (f === 0) first.copy(momentum);
    else drift = Math.max(drift, momentum.distanceTo(first) / (first.length() || 1));
  }
  setPose(saved);
  return { J, x, spins: energy[1] > 0, steady: first.length() > 0 && drift < 2e-3 && energy[0] > 0.996 * energy[1], drift };
}

function principalAxes(body) {
  const [w, x, y, z] = scene.bodies[body].axes;
  return new THREE.Quaternion(x, y, z, w);
}

/** What can be chosen: rigid bodies that have an inertia about all axes. */
function canPolhode(body) {
  return !scene.bodies[body].point && Math.min(...scene.bodies[body].moments) > 0;
}

class PolhodeView {
  constructor(stage) {
    Object.assign(this, { stage, body: -1, group: new THREE.Group() });
    this.group.visible = false;
    stage.world.add(this.group);
  }

  choose(body) {
    this.body = body >= 0 && canPolhode(body) ? body : -1;
    for (const part of [...this.group.children]) { this.group.remove(part); part.geometry.dispose(); }
    this.group.visible = this.body >= 0;
    if (this.body < 0) return;
    this.data = findPolhode(this.body);
    this.build();
  }

  /** How the curves are to be read, for the page. */
  note() {
    if (this.body < 0) return '';
    if (!this.data.spins) return 'The body does not turn: there is no polhode.';
    return this.data.steady ? 'No torque acts: the ellipsoid rolls on the invariable plane, along the herpolhode.'
      : 'A torque acts, so the momentum changes: the plane touches the ellipsoid as it is now, and there is no herpolhode.';
  }

  build() {
    const { J, x, steady, spins } = this.data, stage = this.stage;
    const half = J.map((moment) => 1 / Math.sqrt(moment));
    const size = Math.min(1.25 * reach[this.body], 1.7 * Math.max(...scene.bodies[this.body].size), 0.25 * extent);
    this.scale = Math.max(size, 0.06 * extent) / Math.max(...half);
    const color = bodyColor(this.body), strong = stage.dark ? 0xffffff : 0x111111;
    this.ellipsoid = new THREE.Mesh(new THREE.SphereBufferGeometry(1, 64, 48), stage.materials.make(color, { transparent: true, opacity: 0.3, depthWrite: false, roughness: 0.25 }));
    this.ellipsoid.scale.set(...half).multiplyScalar(this.scale);
    this.curve = new Ribbon(x.map((value) => 1.003 * this.scale * value), times, strong, 3);
    this.curve.material.uniforms.faint.value = 0.45;
    this.plane = new THREE.Mesh(new THREE.CircleBufferGeometry(1, 96), new THREE.MeshBasicMaterial({ transparent: true, opacity: 0.16, side: THREE.DoubleSide, depthWrite: false }));
    this.contact = new THREE.Mesh(new THREE.SphereBufferGeometry(0.03 * this.scale * Math.max(...half), 16, 12), stage.materials.make(strong));
    this.arrow = new THREE.Mesh(merged(placed(cylinder(0.012, 0.9), 0, 0, 0.45), placed(alongZ(new THREE.ConeBufferGeometry(0.035, 0.1, 20)), 0, 0, 0.95)), stage.materials.make(0xcc79a7));
    this.plane.material.color.copy(linear(0x56b4e9));
    this.ellipsoid.renderOrder = 3;
    this.plane.renderOrder = 4;
    this.curve.renderOrder = 5;
    this.group.add(this.ellipsoid, this.curve);
    if (spins) this.group.add(this.plane, this.contact, this.arrow);
    this.trace = steady && spins ? new Ribbon(this.tracePoints(), times, 0xd55e00, 3) : null;
    if (this.trace) { this.trace.material.uniforms.faint.value = 0.3; this.trace.renderOrder = 5; this.group.add(this.trace); }
    for (const part of this.group.children) part.frustumCulled = false;
  }

  /** x in global axes, from the centre of mass. */
  atFrame(f, out) {
    const { x } = this.data, b = this.body;
    const i = 4 * (numBodies * f + b), q = [0, 1, 2, 3].map((c) => (rotations[i + c] - 32768) / 32767);
    return out.set(x[3 * f], x[3 * f + 1], x[3 * f + 2]).applyQuaternion(principalAxes(b)).applyQuaternion(new THREE.Quaternion(q[1], q[2], q[3], q[0]).normalize());
  }

  /** The herpolhode: the points are put on the plane, which they leave by rounding alone. */
  tracePoints() {
    const points = new Float32Array(3 * numFrames), at = new THREE.Vector3();
    for (let f = 0; f < numFrames; f++) this.atFrame(f, at).multiplyScalar(1.003 * this.scale).toArray(points, 3 * f);
    return points;
  }

  update() {
    if (this.body < 0) return;
    const { J, x } = this.data, stage = this.stage, b = this.body;
    const center = new THREE.Vector3(...pointOf(b, [0, 0, 0], [0, 0, 0]));
    const turn = new THREE.Quaternion(pose.q[4 * b + 1], pose.q[4 * b + 2], pose.q[4 * b + 3], pose.q[4 * b]).multiply(principalAxes(b));
    const [frame, part] = splitTime(stage.time), next = Math.min(frame + 1, numFrames - 1);
    const now = new THREE.Vector3(...[0, 1, 2].map((c) => (1 - part) * x[3 * frame + c] + part * x[3 * next + c]));
    const size = Math.sqrt([0, 1, 2].reduce((sum, c) => sum + J[c] * now.getComponent(c) ** 2, 0)) || 1;
    now.divideScalar(size);
    const normal = new THREE.Vector3(J[0] * now.x, J[1] * now.y, J[2] * now.z).normalize();
    const radius = this.scale * Math.max(...J.map((moment) => 1 / Math.sqrt(moment)));
    this.group.position.copy(center);
    for (const object of [this.ellipsoid, this.curve]) object.quaternion.copy(turn);
    normal.applyQuaternion(turn);
    now.multiplyScalar(this.scale).applyQuaternion(turn);
    this.contact.position.copy(now);
    const face = new THREE.Quaternion().setFromUnitVectors(new THREE.Vector3(0, 0, 1), normal);
    this.plane.quaternion.copy(face);
    this.plane.position.copy(normal).multiplyScalar(now.dot(normal));
    this.plane.scale.setScalar(1.6 * radius);
    this.arrow.quaternion.copy(face);
    this.arrow.scale.setScalar(1.7 * radius);
    this.curve.set(stage);
    if (this.trace) this.trace.set(stage);
  }
}
