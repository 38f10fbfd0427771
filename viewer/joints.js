// Joints: pins, rails, balls and other parts, as large as the bodies are there.

/** Size of symbols where nothing tells: as rods are. */
const symbol = Math.min(Math.max(1.25 * rodRadius, 0.0025 * extent), 0.014 * extent);

/** Size of the parts of a joint: as thick as the thinner of its two bodies at that place. */
function jointSize(joint) {
  const sizes = joint.markers.map((number) => thicknessAt(scene.markers[number].body, scene.markers[number].position)).filter((x) => x > 0);
  const size = sizes.length ? 1.2 * Math.min(...sizes) : symbol;
  return Math.min(Math.max(size, 0.0028 * extent), 0.016 * extent);
}

/** How far the bodies of a joint reach along its axis on both sides, so that a pin just shows. */
function pinEnds(joint, size) {
  let low = -size, high = size;
  for (const number of joint.markers) {
    const { body, position, rotation } = scene.markers[number], axis = turnedBy(rotation, [0, 0, 1]);
    for (const { shape } of shapesAt(body, position)) {
      const m = shape.matrix, along = (c) => axis[0] * m[c] + axis[1] * m[4 + c] + axis[2] * m[8 + c];
      const round = ['cylinder', 'cone', 'rod'].includes(shape.type), ball = ['sphere', 'ellipsoid', 'ball'].includes(shape.type);
      const half = 0.5 * (ball ? Math.hypot(along(0), along(1), along(2))
        : (round ? Math.hypot(along(0), along(1)) : Math.abs(along(0)) + Math.abs(along(1))) + Math.abs(along(2)));
      const height = [m[3], m[7], m[11]].reduce((sum, x, c) => sum + (x - position[c]) * axis[c], 0);
      if (half > 6 * size) continue; // the pin ends in it
      low = Math.min(low, height - half);
      high = Math.max(high, height + half);
    }
  }
  return [Math.max(low, -8 * size) - 0.3 * size, Math.min(high, 8 * size) + 0.3 * size];
}

/** Where the second marker of a joint goes along z of the first, over the whole run. */
function slideRange(joint) {
  const [a, b] = joint.markers.map((number) => scene.markers[number]), axis = turnedBy(a.rotation, [0, 0, 1]);
  const from = [0, 0, 0], to = [0, 0, 0], z = [0, 0, 0];
  let low = Infinity, high = -Infinity;
  const samples = Math.min(numFrames, 200);
  for (let i = 0; i < samples; i++) {
    setPose((duration * i) / Math.max(samples - 1, 1));
    pointOf(a.body, a.position, from);
    pointOf(b.body, b.position, to);
    turned(a.body, axis, z);
    const d = z.reduce((sum, x, c) => sum + x * (to[c] - from[c]), 0);
    if (!isNaN(d)) { low = Math.min(low, d); high = Math.max(high, d); }
  }
  return low <= high ? [low, high] : [0, 0];
}

const slides = new Map(); // by joint: the rail's ends along z of its first marker
const jointSizes = numBodies <= 2000 ? scene.joints.map(jointSize) : scene.joints.map(() => symbol);
scene.joints.forEach((joint, number) => {
  if (!['prismatic', 'cylindrical'].includes(joint.type) || numBodies > 500) return;
  const [low, high] = slideRange(joint), size = jointSizes[number], sliding = scene.markers[joint.markers[1]].body;
  const margin = Math.max(4 * size, 0.12 * (high - low), sliding >= 0 ? Math.min(1.3 * reach[sliding], 0.4 * extent) : 0);
  slides.set(number, [low - margin, high + margin]);
});

/** A part fixed in the body of a marker, moved along z and stretched. */
function atMarker(marker, z, size) {
  const axis = turnedBy(marker.rotation, [0, 0, 1]);
  return { body: marker.body, matrix: localMatrix(marker.position.map((x, c) => x + z * axis[c]), marker.rotation, size) };
}

/** The parts of one joint: [[kind, item]]; kinds are the geometries of jointParts. */
function partsOf(joint, number) {
  const [first, second] = joint.markers.map((index) => scene.markers[index]), size = jointSizes[number];
  const slide = slides.get(number), drawn = (marker) => (marker.body < 0 ? false : shapedBodies.has(marker.body));
  switch (joint.type) {
    case 'revolute': {
      const [low, high] = pinEnds(joint, size), middle = 0.5 * (low + high);
      const parts = [['pin', atMarker(first, middle, [0.62 * size, 0.62 * size, high - low])]];
      // the eye about the pin, on bodies that are rods; a stand where the ground holds them
      const rods = [first, second].filter((marker) => marker.body >= 0 && !drawn(marker));
      rods.forEach((marker, i) => {
        const [z, long] = rods.length === 2 ? [(i - 0.5) * size, 0.98 * size] : [0, 1.9 * size];
        parts.push(['eye', { ...atMarker(marker, z, [size, size, long]), color: bodyColor(marker.body) }]);
      });
      for (const marker of [first, second])
        if (marker.body < 0 && !shapedBodies.has(-1))
          for (const z of [low, high]) parts.push(['cheek', atMarker(marker, z, [1.7 * size, 1.7 * size, 0.5 * size])]);
      return parts;
    }
    case 'prismatic': case 'cylindrical': {
      const round = joint.type === 'cylindrical', parts = [];
      if (slide && !shapedBodies.has(first.body)) parts.push([round ? 'bar' : 'rail', atMarker(first, 0.5 * (slide[0] + slide[1]), [0.9 * size, 0.9 * size, slide[1] - slide[0]])]);
      if (!drawn(second)) parts.push([round ? 'sleeve' : 'carriage', { ...atMarker(second, 0, [2 * size, 2 * size, 4 * size]), color: bodyColor(second.body) }]);
      return parts;
    }
    default: {
      const marker = joint.type.startsWith('rolling') ? second : first;
      return [[joint.type, atMarker(marker, 0, [size, size, size])]];
    }
  }
}

const jointParts = {
  pin: () => cylinder(1, 1), eye: () => cylinder(1.55, 1), cheek: () => cylinder(1, 1), bar: () => cylinder(1, 1), rail: () => box(1.6, 1.6, 1),
  carriage: () => box(2, 2, 1), sleeve: () => cylinder(1, 1),
};

function buildJoints(stage) {
  const byKind = new Map(), rods = [];
  scene.joints.forEach((joint, number) => {
    if (joint.type === 'distance') { rods.push(joint.markers); return; }
    for (const [kind, item] of partsOf(joint, number)) {
      const key = item.color === undefined ? kind : `${kind}+`;
      if (!byKind.has(key)) byKind.set(key, []);
      byKind.get(key).push(item);
    }
  });
  const meshes = [];
  for (const [key, items] of byKind) {
    const kind = key.replace('+', ''), geometry = (jointParts[kind] || jointSymbols[kind] || otherJoint)();
    if (key === kind) meshes.push(named(kind, fixedCopies(geometry, stage.symbolMaterial, items)));
    else meshes.push(named(kind, fixedCopies(shaded(geometry, even), stage.shapeMaterial, items).setColors(items.map((item) => item.color))));
  }
  if (rods.length) meshes.push(named('rod', rodCopies(rods, 0.7 * symbol, stage.symbolMaterial)));
  return meshes;
}

/** Rods between pairs of markers. */
function rodCopies(pairs, radius, material) {
  const mesh = makeCopies(merged(placed(cylinder(1, 1), 0, 0, 0.5)), material, pairs.length);
  const a = [0, 0, 0], b = [0, 0, 0];
  mesh.follow = () => {
    pairs.forEach(([first, second], i) => {
      pointOf(scene.markers[first].body, scene.markers[first].position, a);
      pointOf(scene.markers[second].body, scene.markers[second].position, b);
      const d = [b[0] - a[0], b[1] - a[1], b[2] - a[2]];
      writeAlong(mesh.matrices, 16 * i, a, d, radius, Math.hypot(...d));
    });
    mesh.place();
  };
  return mesh;
}
