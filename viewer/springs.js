// Springs as coils, dampers as two tubes, springs about a hinge as spirals, supports as cones.

const isElastic = (force) => force.stiffness[0] > 0;
const isDamped = (force) => force.damping[0] > 0;

/** The ends of what pulls between two points, now; the second depends on the type. */
function springEnds(force) {
  if (force.type === 'spring-damper') {
    const [first, second] = force.markers.map((number) => scene.markers[number]);
    return (a, b) => { pointOf(first.body, first.position, a); pointOf(second.body, second.position, b); };
  }
  // along a slide: from the end of its rail to what slides
  const [first, second] = scene.joints[force.joint].markers.map((number) => scene.markers[number]);
  const slide = slides.get(force.joint), axis = turnedBy(first.rotation, [0, 0, 1]);
  const end = first.position.map((x, c) => x + (slide ? slide[0] : 0) * axis[c]);
  return (a, b) => { pointOf(first.body, end, a); pointOf(second.body, second.position, b); };
}

/** Whether a spring on a joint acts along its slide. */
function isSlideSpring(force) {
  return force.type === 'joint-spring' && !force.angular && slides.has(force.joint);
}

/** A geometry of length 1 along z that reaches between two moving points; part(length): where it starts, and how
 * long it is. */
function reachingMesh(geometry, material, ends, radius, part) {
  const mesh = makeCopies(geometry, material, 1), a = [0, 0, 0], b = [0, 0, 0];
  mesh.follow = () => {
    ends(a, b);
    const d = [b[0] - a[0], b[1] - a[1], b[2] - a[2]], length = Math.hypot(...d);
    const [from, size] = part(length);
    writeAlong(mesh.matrices, 0, a.map((x, c) => x + (from / (length || 1)) * d[c]), d, radius, size);
    mesh.place();
  };
  return mesh;
}

/** The parts of one spring, damper or actuator between two points. */
function springParts(stage, force) {
  const ends = springEnds(force), a = [0, 0, 0], b = [0, 0, 0];
  let longest = 0, mean = 0;
  for (let i = 0; i < 20; i++) {
    setPose((duration * i) / 19);
    ends(a, b);
    const length = Math.hypot(b[0] - a[0], b[1] - a[1], b[2] - a[2]) || 0;
    longest = Math.max(longest, length);
    mean += length / 20;
  }
  const radius = Math.min(Math.max(2 * symbol, 0.07 * mean), 0.022 * extent), whole = (length) => [0, length], parts = [];
  if (isElastic(force)) {
    const turns = Math.max(5, Math.min(14, Math.round(mean / (0.9 * radius))));
    parts.push(named('coil', reachingMesh(coil(turns, Math.max(mean / radius, 1)), stage.springMaterial, ends, radius, whole)));
  }
  if (isDamped(force) || !isElastic(force)) {
    // a tube of fixed length at the first end, a thinner rod that goes in and out at the second
    const thick = isElastic(force) ? 0.42 * radius : 0.6 * radius, shape = () => merged(placed(cylinder(1, 1), 0, 0, 0.5));
    parts.push(named('damper', reachingMesh(shape(), stage.symbolMaterial, ends, thick, (length) => [0, Math.min(0.5 * longest, 0.96 * length)])));
    parts.push(named('piston', reachingMesh(shape(), stage.steelMaterial, ends, 0.5 * thick, (length) => [0.04 * length, 0.96 * length])));
  }
  return parts;
}

function buildSprings(stage) {
  const lines = scene.forces.filter((force) => force.type === 'spring-damper' || (isSlideSpring(force) && (isElastic(force) || isDamped(force))));
  const supports = scene.forces.filter((force) => force.type === 'support');
  const spirals = scene.forces.filter((force) => force.type === 'joint-spring' && !isSlideSpring(force) && isElastic(force));
  const bushings = scene.forces.filter((force) => force.type === 'bushing');
  const many = lines.length > 150, saved = stage.time;
  const parts = many ? [named('coil', coilCopies(stage, lines.filter((force) => force.type === 'spring-damper')))] : [].concat(...lines.map((force) => springParts(stage, force)));
  setPose(saved);
  if (supports.length)
    parts.push(named('support', fixedCopies(placed(alongZ(new THREE.ConeBufferGeometry(1, 1.6, 24)), 0, 0, -0.8), stage.springMaterial,
      supports.map((force) => ({ body: -1, matrix: localMatrix(force.anchor, [1, 0, 0, 0], [2 * symbol, 2 * symbol, 2 * symbol]) })))));
  const atJoint = (name, geometry, list, markersOf, factor, beside = false) => {
    if (!list.length) return;
    parts.push(named(name, fixedCopies(geometry, stage.springMaterial, list.map((force) => {
      const size = factor * (force.joint >= 0 ? jointSizes[force.joint] : symbol);
      // beside the bodies, at the end of the pin, or it would be buried in them
      const z = beside ? pinEnds(scene.joints[force.joint], jointSizes[force.joint])[1] : 0;
      return atMarker(scene.markers[markersOf(force)[0]], z, [size, size, size]);
    }))));
  };
  atJoint('spiral', spiral(3), spirals, (force) => scene.joints[force.joint].markers, 3.4, true);
  atJoint('bushing', ring(2, 0.25), bushings, (force) => force.markers, 1);
  return parts;
}

/** Very many springs: one coil for all, stretched. */
function coilCopies(stage, list) {
  const mesh = makeCopies(coil(8, 10), stage.springMaterial, list.length), a = [0, 0, 0], b = [0, 0, 0], ends = list.map(springEnds);
  mesh.follow = () => {
    ends.forEach((find, i) => {
      find(a, b);
      const d = [b[0] - a[0], b[1] - a[1], b[2] - a[2]];
      writeAlong(mesh.matrices, 16 * i, a, d, 1.5 * symbol, Math.hypot(...d));
    });
    mesh.place();
  };
  return mesh;
}
