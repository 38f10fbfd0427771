// Wheels of couplings between two hinges with parallel axes: drawn with teeth that mesh.

/** The body and marker of a hinge that is not the common one of both. */
function wheelOf(joint, common) {
  const side = scene.markers[joint.markers[0]].body === common ? 1 : 0;
  return { marker: scene.markers[joint.markers[side]], sign: side === 1 ? 1 : -1 };
}

/** Whole numbers of teeth in a given ratio: the factors themselves if they are such, else small ones. */
function teethOf(a, b) {
  const whole = (x) => Math.abs(x - Math.round(x)) < 1e-6;
  if (whole(a) && whole(b) && Math.min(a, b) >= 8 && Math.max(a, b) <= 300) return [Math.round(a), Math.round(b)];
  let best = null;
  for (let n = 14; n <= 48; n++) {
    const m = a < b ? (n * b) / a : (n * a) / b, error = Math.abs(m - Math.round(m));
    if (m <= 400 && (!best || error < best.error - 1e-6)) best = { error, pair: a < b ? [n, Math.round(m)] : [Math.round(m), n] };
  }
  return best && best.error < 0.02 ? best.pair : null;
}

/** The pair of wheels of a coupling at the first frame; null if it is no pair of spur gears. */
function gearPair(coupling) {
  const [a, b] = coupling.joints.map((number) => scene.joints[number]);
  if (!coupling.angular[0] || !coupling.angular[1] || a.type !== 'revolute' || b.type !== 'revolute') return null;
  const bodiesOf = (joint) => joint.markers.map((number) => scene.markers[number].body);
  const common = bodiesOf(a).find((body) => bodiesOf(b).includes(body));
  const teeth = common === undefined ? null : teethOf(Math.abs(coupling.factors[0]), Math.abs(coupling.factors[1]));
  if (!teeth) return null;
  const wheels = [wheelOf(a, common), wheelOf(b, common)];
  const centers = wheels.map(({ marker }) => new THREE.Vector3(...pointOf(marker.body, marker.position, [0, 0, 0])));
  const axes = wheels.map(({ marker }) => new THREE.Vector3(...turned(marker.body, turnedBy(marker.rotation, [0, 0, 1]), [0, 0, 0])));
  const across = centers[1].clone().sub(centers[0]);
  across.addScaledVector(axes[0], -across.dot(axes[0]));
  const distance = across.length(), parallel = axes[0].dot(axes[1]);
  if (Math.abs(parallel) < 0.999 || !(distance > 1e-6 * extent)) return null;
  const [fa, fb] = wheels.map(({ sign }, i) => sign * coupling.factors[i] * (i ? Math.sign(parallel) : 1));
  const inside = fa * fb < 0, sum = inside ? Math.abs(teeth[0] - teeth[1]) : teeth[0] + teeth[1];
  if (sum === 0) return null;
  return { wheels, teeth, inside, across: across.normalize(), radii: teeth.map((n) => (distance * n) / sum) };
}

/** The cylinder about the axis of a wheel that it takes the place of, and where it is along the axis. */
function wheelDisc(marker, radius) {
  const axis = new THREE.Vector3(...turnedBy(marker.rotation, [0, 0, 1])), center = new THREE.Vector3(...marker.position);
  for (const shape of shapesOf.get(marker.body) || []) {
    if (shape.type !== 'cylinder' || Math.abs(0.5 * shape.size[0] / radius - 1) > 0.25) continue;
    const along = new THREE.Vector3(shape.matrix[2], shape.matrix[6], shape.matrix[10]).normalize();
    const arm = new THREE.Vector3(shape.matrix[3], shape.matrix[7], shape.matrix[11]).sub(center), height = arm.dot(axis);
    if (Math.abs(along.dot(axis)) > 0.999 && arm.addScaledVector(axis, -height).length() < 0.05 * radius)
      return { shape, height, thickness: shape.size[2] };
  }
  return null;
}

/** Angle of a direction about the axis of a wheel, from its x axis. */
function angleIn(marker, direction) {
  const part = (axis) => new THREE.Vector3(...turned(marker.body, turnedBy(marker.rotation, axis), [0, 0, 0])).dot(direction);
  return Math.atan2(part([0, 1, 0]), part([1, 0, 0]));
}

/** All wheels: [{marker, teeth, radius, inside, phase, height, thickness, shape}].  A wheel of several pairs is
 * drawn once; the phase of the others follows from it. */
function findGears() {
  setPose(0);
  const wheels = [];
  const known = (marker, teeth, inside) => wheels.find((wheel) => wheel.marker.body === marker.body && wheel.teeth === teeth && wheel.inside === inside);
  for (const pair of scene.couplings.map(gearPair)) {
    if (!pair) continue;
    const ring = pair.inside ? (pair.teeth[0] > pair.teeth[1] ? 0 : 1) : -1;
    const one = pair.wheels.map(({ marker }, i) => known(marker, pair.teeth[i], i === ring) || {
      marker, teeth: pair.teeth[i], radius: pair.radii[i], inside: i === ring, phase: null,
      disc: i === ring ? null : wheelDisc(marker, pair.radii[i]),
    });
    const first = one[0].phase === null && one[1].phase !== null ? 1 : 0, a = one[first], b = one[1 - first];
    // the line of centres, seen from each wheel towards the place where the teeth meet
    const sight = (i) => pair.across.clone().multiplyScalar((pair.inside ? ring : i) === 0 ? 1 : -1);
    if (a.phase === null) a.phase = angleIn(a.marker, sight(first));
    if (b.phase === null) {
      const pitch = (2 * Math.PI) / a.teeth, at = a.phase - angleIn(a.marker, sight(first));
      const shift = (at - Math.round(at / pitch) * pitch) * a.radius + 0.5 * pitch * a.radius;
      b.phase = angleIn(b.marker, sight(1 - first)) + ((pair.inside ? 1 : -1) * shift) / b.radius;
    }
    for (const wheel of one) if (!wheels.includes(wheel)) wheels.push(wheel);
    placeAlong(a, b);
  }
  return wheels.map((wheel) => ({ ...wheel, shape: wheel.disc && wheel.disc.shape }));
}

/** Height and thickness along the axis: those of the disc, or of the wheel it meshes with. */
function placeAlong(a, b) {
  const plain = 0.3 * Math.min(a.radius, b.radius);
  const heightOf = (wheel) => new THREE.Vector3(...pointOf(wheel.marker.body, wheel.marker.position, [0, 0, 0])).dot(axisOf(wheel));
  const axisOf = (wheel) => new THREE.Vector3(...turned(wheel.marker.body, turnedBy(wheel.marker.rotation, [0, 0, 1]), [0, 0, 0]));
  for (const [wheel, other] of [[a, b], [b, a]]) {
    if (wheel.height !== undefined) continue;
    const disc = wheel.disc || other.disc;
    wheel.thickness = disc ? disc.thickness : plain;
    const lift = axisOf(wheel).dot(axisOf(other)) > 0 ? 1 : -1;
    wheel.height = wheel.disc ? wheel.disc.height : other.disc ? lift * (heightOf(other) + other.disc.height) - heightOf(wheel) : 0;
  }
}

const gearWheels = scene.couplings ? findGears() : [];

/** A wheel as a copy of its geometry: {body, matrix, color}. */
function gearItem(wheel) {
  const { marker } = wheel, axis = turnedBy(marker.rotation, [0, 0, 1]);
  const m = localMatrix(marker.position.map((x, c) => x + wheel.height * axis[c]), marker.rotation, [1, 1, 1]);
  const c = Math.cos(wheel.phase), s = Math.sin(wheel.phase), matrix = Float64Array.from(m);
  for (let r = 0; r < 3; r++) {
    matrix[4 * r] = wheel.radius * (c * m[4 * r] + s * m[4 * r + 1]);
    matrix[4 * r + 1] = wheel.radius * (c * m[4 * r + 1] - s * m[4 * r]);
    matrix[4 * r + 2] = wheel.thickness * m[4 * r + 2];
  }
  // a ring of the ground stands out against the plate below it
  const color = wheel.shape ? wheel.shape.color : marker.body < 0 ? 0x5f6b7a : bodyColor(marker.body);
  return { body: marker.body, matrix, color };
}

function gearMesh(stage, wheel) {
  const item = gearItem(wheel), material = item.body < 0 ? stage.groundMaterial : stage.shapeMaterial;
  return named('gear', fixedCopies(gear(wheel.teeth, wheel.inside), material, [item]).setColors([item.color]));
}
