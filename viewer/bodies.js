// Bodies: their shapes, what stands in for shapes that the model does not give, and the box around everything.

/** A shape ready to be drawn: its matrix is in the axes of the body. */
function makeShape(body, type, mesh, size, position, rotation, color) {
  const box = mesh >= 0 ? meshShapes[mesh].boundingBox : unitBox;
  return { body, type, mesh, box, color, size, matrix: localMatrix(position, rotation, size) };
}

function turnedBy(q, v) {
  const m = new Float64Array(12);
  writeMatrix(m, 0, [0, 0, 0], 0, q, 0);
  return [0, 1, 2].map((r) => m[4 * r] * v[0] + m[4 * r + 1] * v[1] + m[4 * r + 2] * v[2]);
}

const shapedBodies = new Set(scene.shapes.map((shape) => shape.body));

/** Where joints and springs hold each body, from its centre of mass. */
function findAttachments() {
  const list = scene.bodies.map(() => []);
  const add = (body, point) => {
    if (body < 0 || shapedBodies.has(body)) return;
    const near = (other) => Math.hypot(...other.map((x, c) => x - point[c])) < 1e-6 * (1e-9 + Math.hypot(...point));
    if (!list[body].some(near)) list[body].push(point);
  };
  for (const { markers } of scene.joints.concat(scene.forces))
    for (const number of markers) if (scene.markers[number]) add(scene.markers[number].body, scene.markers[number].position);
  for (const force of scene.forces) if (force.type === 'support') add(force.body, force.point);
  return list;
}
const attachments = findAttachments();

/** Up is the axis that gravity points down along most. */
function findUp() {
  const g = scene.gravity.map(Math.abs);
  const axis = Math.max(...g) === 0 ? 2 : g.indexOf(Math.max(...g));
  const up = new THREE.Vector3();
  up.setComponent(axis, scene.gravity[axis] > 0 ? -1 : 1);
  return up;
}
const up = findUp();

/** A mechanism that travels: the bodies go much further than they are apart, and do not come back.  Gives the
 * heaviest of them, which the view goes along with, or -1. */
function findTraveler() {
  const point = new THREE.Vector3(), samples = Math.min(numFrames, 20), centers = [];
  let spread = scene.bodies.reduce((most, body) => Math.max(most, 2 * Math.max(...body.size)), 0);
  if (numBodies < 2 || numBodies > 400 || shapedBodies.has(-1)) return -1;
  for (let i = 0; i < samples; i++) {
    const box = new THREE.Box3();
    setPose((duration * i) / Math.max(samples - 1, 1));
    for (let b = 0; b < numBodies; b++) if (!isNaN(pose.x[3 * b])) box.expandByPoint(point.set(...pointOf(b, [0, 0, 0], [0, 0, 0])));
    if (box.isEmpty()) continue;
    spread = Math.max(spread, box.getSize(point).length());
    centers.push(box.getCenter(new THREE.Vector3()));
  }
  const far = centers.length ? centers[centers.length - 1].clone().sub(centers[0]) : point.set(0, 0, 0);
  if (!(far.addScaledVector(up, -far.dot(up)).length() > 4 * spread)) return -1;
  return scene.bodies.reduce((best, body, index) => (body.mass > scene.bodies[best].mass ? index : best), 0);
}
const traveler = findTraveler();

/** How far the traveller has gone along the floor until now; all zero if there is none. */
function traveled() {
  const shift = new THREE.Vector3();
  if (traveler < 0 || isNaN(pose.x[3 * traveler])) return shift;
  const first = 3 * traveler;
  for (let c = 0; c < 3; c++) shift.setComponent(c, pose.x[first + c] - positionLow[first + c] - positionStep[first + c] * positions[first + c]);
  return shift.addScaledVector(up, -shift.dot(up));
}

/** The size of the space that bodies and joints move in, before any shape is known; what travels is seen along
 * its way. */
function findScale() {
  const box = new THREE.Box3(), point = new THREE.Vector3();
  const samples = Math.min(numFrames, Math.max(2, Math.min(40, Math.floor(2e5 / (numBodies + scene.markers.length + 1)))));
  const include = (body, local) => {
    if (traveler >= 0 && body < 0) return;
    point.set(...pointOf(body, local, [0, 0, 0])).sub(traveled());
    if (!isNaN(point.x + point.y + point.z)) box.expandByPoint(point);
  };
  for (let i = 0; i < samples; i++) {
    setPose((duration * i) / Math.max(samples - 1, 1));
    for (let b = 0; b < numBodies; b++) include(b, [0, 0, 0]);
    for (const marker of scene.markers) include(marker.body, marker.position);
  }
  const largest = scene.bodies.reduce((most, body) => Math.max(most, ...body.size), 0);
  for (const shape of scene.shapes) if (shape.mesh < 0) include(shape.body, shape.position);
  return Math.max(box.isEmpty() ? 0 : box.getSize(point).length(), largest) || 1;
}

/** The radius of all rods: thin beside their length, and never a hairline. */
function findRodRadius(scale) {
  const lengths = [].concat(...attachments.map((points) => points.map((p) => Math.hypot(...p)).filter((length) => length > 1e-4 * scale)));
  lengths.sort((a, b) => a - b);
  const typical = lengths.length ? lengths[lengths.length >> 1] : 0;
  return Math.min(Math.max(0.055 * typical, 0.0035 * scale), 0.015 * scale);
}
const roughScale = findScale();
const rodRadius = findRodRadius(roughScale);

/** The axis of a slender body and half the length of the even rod with its inertia; null if it is not slender. */
function slenderAxis(body) {
  const least = Math.min(...body.moments), most = Math.max(...body.moments);
  if (!(least < 0.15 * most) || !(body.mass > 0)) return null;
  const axis = [0, 0, 0];
  axis[body.moments.indexOf(least)] = 1;
  return { axis: turnedBy(body.axes, axis), half: Math.sqrt((3 * most) / body.mass) };
}

/** The ends of the rods of a body from its centre of mass: its joints, and the free end where its inertia is that
 * of an even rod along them. */
function rodEnds(index) {
  const ends = attachments[index].filter((p) => Math.hypot(...p) > 0.3 * rodRadius), slender = slenderAxis(scene.bodies[index]);
  if (!slender || !ends.length) return { ends, even: false };
  const along = (p) => p.reduce((sum, x, c) => sum + x * slender.axis[c], 0);
  if (!ends.every((p) => Math.abs(along(p)) > 0.97 * Math.hypot(...p) && Math.abs(along(p)) < 1.2 * slender.half)) return { ends, even: false };
  const free = [-1, 1].filter((sign) => !ends.some((p) => sign * along(p) > 0.05 * slender.half));
  return { ends: ends.concat(free.map((sign) => slender.axis.map((x) => sign * slender.half * x))), even: true };
}

/** What a rigid body without shapes is drawn as: rods to its joints, and the ellipsoid of its inertia or a ball
 * in its place.  Interfaces of flexible bodies have no mass: a ball. */
function standIns(body, index) {
  const color = bodyColor(index), { ends, even } = rodEnds(index), parts = [], unit = [1, 0, 0, 0];
  const least = Math.min(0.0025 * roughScale, 0.25 * Math.max(...body.size));
  const ellipsoid = () => makeShape(index, 'ellipsoid', -1, body.size.map((half) => 2 * Math.max(half, least)), [0, 0, 0], body.axes, color);
  const ball = (at, radius) => makeShape(index, 'ball', -1, [2 * radius, 2 * radius, 2 * radius], at, unit, color);
  if (!ends.length) return [body.mass > 0 ? ellipsoid() : ball([0, 0, 0], rodRadius)];
  for (const end of ends) {
    const length = Math.hypot(...end);
    const rod = makeShape(index, 'rod', -1, [2 * rodRadius, 2 * rodRadius, length], [0, 0, 0], unit, color);
    rod.matrix = matrixAlong(end.map((x) => 0.5 * x), end, 2 * rodRadius, length);
    parts.push(rod, ball(end, rodRadius));
  }
  const far = Math.max(...ends.map((p) => Math.hypot(...p)));
  const radius = even || !(body.mass > 0) ? 0 : Math.min(Math.sqrt((2.5 * Math.min(...body.moments)) / body.mass), 0.17 * far);
  if (!even && body.mass > 0 && attachments[index].length === 1) parts.push(ellipsoid());
  else parts.push(ball([0, 0, 0], Math.max(radius, 1.0005 * rodRadius)));
  return parts;
}

/** Every shape of every body.  Faces of several shapes in one plane would flicker: each is larger than the last
 * by less than can be seen.  Long shapes that would be hairlines get some width.  Of a flexible body, which is
 * drawn by itself, the box; its interfaces are frames without a shape. */
function allShapes() {
  const least = 0.009 * roughScale;
  const list = scene.shapes.map((shape, number) => {
    const grow = shape.mesh >= 0 ? 0 : 2.4e-4 * roughScale * (number % 6), longest = Math.max(...shape.size);
    const size = shape.size.map((x) => (shape.mesh < 0 && longest > 4 * x ? Math.max(x, Math.min(least, longest / 4)) : x) + Math.min(grow, 0.01 * longest));
    return makeShape(shape.body, shape.type, shape.mesh, size, shape.position, shape.rotation, shape.color < 0 ? bodyColor(shape.body) : shape.color);
  });
  for (const { body, points, low, high } of scene.flexible)
    if (points) list.push(makeShape(body, 'flexible', -1, low.map((x, c) => Math.max(high[c] - x, least)), low.map((x, c) => 0.5 * (x + high[c])), [1, 0, 0, 0], bodyColor(body)));
  const ready = new Set(list.map((shape) => shape.body));
  scene.bodies.forEach((body, index) => { if (!body.point && !body.interface && !ready.has(index)) list.push(...standIns(body, index)); });
  // a body without shape and rotation is a small ball
  const radius = roughScale * (numBodies > 100 ? 0.006 : 0.016);
  scene.bodies.forEach((body, index) => {
    if (body.point && !shapedBodies.has(index)) list.push(makeShape(index, 'sphere', -1, [2 * radius, 2 * radius, 2 * radius], [0, 0, 0], [1, 0, 0, 0], bodyColor(index)));
  });
  return list;
}
const shapes = allShapes();

/** The corners of the box around a shape, in the axes of its body. */
function cornersOf(shape) {
  const corners = [], m = shape.matrix, { min, max } = shape.box;
  for (let i = 0; i < 8; i++) {
    const p = [i & 1 ? max.x : min.x, i & 2 ? max.y : min.y, i & 4 ? max.z : min.z];
    const row = (r) => m[4 * r] * p[0] + m[4 * r + 1] * p[1] + m[4 * r + 2] * p[2] + m[4 * r + 3];
    corners.push(new THREE.Vector3(row(0), row(1), row(2)));
  }
  return corners;
}

const reach = new Float64Array(numBodies); // radius of a sphere about each body
const shapesOf = new Map();
for (const shape of shapes) {
  if (!shapesOf.has(shape.body)) shapesOf.set(shape.body, []);
  shapesOf.get(shape.body).push(shape);
  if (shape.body >= 0)
    for (const corner of cornersOf(shape)) reach[shape.body] = Math.max(reach[shape.body], corner.length());
}

/** Half the extent of a stretched unit shape along axis r; m is 4 x 4 by columns. */
function halfExtent(type, m, r) {
  const x = m[r], y = m[4 + r], z = m[8 + r];
  if (['sphere', 'ellipsoid', 'ball'].includes(type)) return 0.5 * Math.hypot(x, y, z);
  if (['cylinder', 'cone', 'rod'].includes(type)) return 0.5 * (Math.hypot(x, y) + Math.abs(z));
  return 0.5 * (Math.abs(x) + Math.abs(y) + Math.abs(z));
}

/** Makes a box hold a shape where it is now, moved back by a vector. */
function expandByShape(box, shape, back) {
  const m = new Float64Array(16), point = new THREE.Vector3();
  writeProduct(m, 0, pose.m, matrixOf(shape.body), shape.matrix, 0);
  if (isNaN(m[12] + m[13] + m[14])) return;
  if (shape.mesh >= 0) {
    box.union(shape.box.clone().applyMatrix4(new THREE.Matrix4().fromArray(m)).translate(back.clone().negate()));
    return;
  }
  for (const sign of [-1, 1])
    box.expandByPoint(point.set(...[0, 1, 2].map((r) => m[12 + r] + sign * halfExtent(shape.type, m, r))).sub(back));
}

/** The box around everything: all shapes at some times, positions at all. */
function findBounds() {
  const box = new THREE.Box3(), point = new THREE.Vector3();
  const samples = Math.min(numFrames, Math.max(4, Math.min(200, Math.floor(1e5 / (shapes.length + 1)))));
  for (let i = 0; i < samples; i++) {
    setPose((duration * i) / Math.max(samples - 1, 1));
    for (const shape of shapes) expandByShape(box, shape, traveled());
  }
  if (traveler >= 0) return box;
  for (let b = 0; b < numBodies; b++)
    for (const side of [0, 1]) box.expandByPoint(point.set(...origin.map((x, c) => scene.ranges[6 * b + 2 * c + side] - x)));
  for (const marker of scene.markers) if (marker.body < 0) box.expandByPoint(point.set(...pointOf(-1, marker.position, [0, 0, 0])));
  return box;
}

const bounds = findBounds();
const extent = bounds.getSize(new THREE.Vector3()).length() || 1;

/** The shapes of a body that are at a point of it, the nearest first: [{shape, distance}]. */
function shapesAt(body, point) {
  const list = shapesOf.get(body) || [], matrix = new THREE.Matrix4(), local = new THREE.Vector3(), found = [];
  for (const shape of list.length > 60 ? [] : list) {
    if (shape.mesh >= 0) continue;
    const m = shape.matrix;
    matrix.set(m[0], m[1], m[2], m[3], m[4], m[5], m[6], m[7], m[8], m[9], m[10], m[11], 0, 0, 0, 1);
    local.set(...point).applyMatrix4(new THREE.Matrix4().getInverse(matrix));
    const outside = ['x', 'y', 'z'].map((c, i) => Math.max(Math.abs(local[c]) - 0.5, 0) * shape.size[i]);
    const distance = Math.hypot(...outside);
    if (distance < 0.25 * Math.min(...shape.size) + 0.004 * extent) found.push({ shape, distance });
  }
  return found.sort((a, b) => a.distance - b.distance);
}

/** Half the width of what a body is drawn as, at a point of it; 0 where nothing is. */
function thicknessAt(body, point) {
  const found = shapesAt(body, point);
  return found.length ? 0.5 * Math.min(...found[0].shape.size) : 0;
}

// --- the layer of bodies --------------------------------------------------------------------------

/** Shapes of one kind in one draw call, of bodies, which turn, or of the ground. */
function shapeCopies(stage, type, items, turns) {
  const material = turns ? stage.shapeMaterial : stage.groundMaterial;
  return named(type, fixedCopies(unitShape(type, items.length, turns), material, items).setColors(items.map((item) => item.color)));
}

/** A mesh of the model; it may be large, so it is drawn by itself. */
function meshOf(stage, shape) {
  const mesh = new THREE.Mesh(meshShapes[shape.mesh], stage.materials.make(shape.color, stage.bodyLook));
  stage.bodyMaterials.push(mesh.material);
  mesh.matrixAutoUpdate = false;
  mesh.frustumCulled = false;
  mesh.castShadow = mesh.receiveShadow = true;
  mesh.follow = () => {
    writeProduct(mesh.matrix.elements, 0, pose.m, matrixOf(shape.body), shape.matrix, 0);
    if (shape.body < 0) mesh.material.color.copy(linear(shape.color)).multiply(stage.groundMaterial.color);
  };
  return mesh;
}

function buildBodies(stage) {
  const parts = buildBeams(stage).concat(buildFlexible(stage)), wheels = new Set(gearWheels.map((wheel) => wheel.shape));
  const plain = shapes.filter((shape) => shape.mesh < 0 && !wheels.has(shape) && !drawnElastic(shape));
  for (const type of new Set(plain.map((shape) => shape.type)))
    for (const turns of [true, false]) {
      const items = plain.filter((shape) => shape.type === type && (shape.body >= 0) === turns);
      if (items.length) parts.push(shapeCopies(stage, type, items, turns));
    }
  for (const wheel of gearWheels) parts.push(gearMesh(stage, wheel));
  return parts.concat(shapes.filter((shape) => shape.mesh >= 0).map((shape) => meshOf(stage, shape)), buildDots());
}

/** Bodies that are too small beside the whole are seen as dots, of some pixels however far they are. */
const smallBodies = scene.bodies.map((body, index) => index).filter((index) => reach[index] < 0.004 * extent);

function buildDots() {
  const dotted = smallBodies.filter((body) => !beamBodies.has(body) && !scene.bodies[body].interface);
  if (!dotted.length) return [];
  const geometry = new THREE.BufferGeometry();
  const points = new Float32Array(3 * dotted.length), colors = new Float32Array(3 * dotted.length);
  dotted.forEach((body, i) => linear(bodyColor(body)).toArray(colors, 3 * i));
  geometry.setAttribute('position', new THREE.BufferAttribute(points, 3).setUsage(THREE.DynamicDrawUsage));
  geometry.setAttribute('color', new THREE.BufferAttribute(colors, 3));
  const dots = new THREE.Points(geometry, new THREE.PointsMaterial({ size: 5, sizeAttenuation: false, vertexColors: THREE.VertexColors }));
  dots.frustumCulled = false;
  dots.follow = () => {
    dotted.forEach((body, i) => points.set(pointOf(body, [0, 0, 0], [0, 0, 0]), 3 * i));
    geometry.attributes.position.needsUpdate = true;
  };
  return [dots];
}

// --- earlier and later places ---------------------------------------------------------------------

/** What moves, without meshes, by geometry: [{name, geometry(copies), items}]. */
function movingParts() {
  const wheels = new Set(gearWheels.map((wheel) => wheel.shape)), plain = shapes.filter((shape) => shape.mesh < 0 && shape.body >= 0 && !wheels.has(shape) && !drawnElastic(shape));
  const parts = [...new Set(plain.map((shape) => shape.type))].map((type) =>
    ({ name: type, geometry: (copies) => unitShape(type, copies), items: plain.filter((shape) => shape.type === type) }));
  return parts.concat(gearWheels.filter((wheel) => wheel.marker.body >= 0)
    .map((wheel) => ({ name: 'gear', geometry: () => gear(wheel.teeth, wheel.inside), items: [gearItem(wheel)] })));
}

/** The bodies at some times of the run, faint. */
function buildGhosts(stage) {
  const count = Math.max(2, Math.min(9, Math.floor(4000 / (shapes.length + 1))));
  const material = stage.materials.colored({ transparent: true, opacity: 0.16, depthWrite: false });
  const meshes = movingParts().map(({ geometry, items }) => {
    const mesh = makeCopies(geometry(count * items.length), material, count * items.length);
    mesh.setColors([].concat(...Array.from({ length: count }, () => items.map((item) => item.color))));
    mesh.castShadow = mesh.receiveShadow = false;
    return { mesh, items };
  });
  const saved = stage.time, soft = stage.materials.make(0xffffff, { vertexColors: THREE.VertexColors, transparent: true, opacity: 0.16, depthWrite: false });
  const curved = [], elasticLook = flexibleMaterials(stage, { transparent: true, opacity: 0.16, depthWrite: false });
  for (let k = 0; k < count; k++) {
    const time = (stage.span * k) / (stage.span < duration ? count : count - 1);
    setPose(time);
    curved.push(...paleBeams(soft, pose), ...paleFlexible(elasticLook, pose, ownModes, time));
    for (const { mesh, items } of meshes)
      items.forEach((item, i) => writeProduct(mesh.matrices, 16 * (k * items.length + i), pose.m, matrixOf(item.body), item.matrix, 0));
  }
  setPose(saved);
  for (const { mesh } of meshes) mesh.place();
  return meshes.map(({ mesh }) => mesh).concat(curved);
}
