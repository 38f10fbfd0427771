// The 3D view: what is drawn, and how it follows the pose.

// --- colours ----------------------------------------------------------------------------------

// Okabe and Ito (2008) for a few bodies, steps of cividis (Nunez and others, 2018) for many: both
// can be told apart with any colour vision.
const fewColors = [0x0072b2, 0xe69f00, 0x009e73, 0xd55e00, 0xcc79a7, 0x56b4e9, 0x8c8c8c];
const manyColors = [0x123570, 0x3b496c, 0x575d6d, 0x707173, 0x8a8678, 0xa59c74, 0xc3b369, 0xe1cc55, 0xfde737];
const groundColor = 0x9aa3ad;

function bodyColor(body) {
  if (body < 0) return groundColor;
  if (numBodies <= fewColors.length) return fewColors[body];
  const at = (body / (numBodies - 1)) * (manyColors.length - 1);
  const i = Math.min(Math.floor(at), manyColors.length - 2);
  return new THREE.Color(manyColors[i]).lerp(new THREE.Color(manyColors[i + 1]), at - i).getHex();
}

function cssColor(name) {
  return getComputedStyle(document.documentElement).getPropertyValue(name).trim();
}

// --- what there is to draw ----------------------------------------------------------------------

/** A shape ready to be drawn: its matrix is in the axes of the body. */
function makeShape(body, type, mesh, size, position, rotation, color) {
  const box = mesh >= 0 ? meshShapes[mesh].boundingBox : unitBox;
  return { body, type, mesh, box, color, matrix: localMatrix(position, rotation, size) };
}

/** Every shape of every body; a rigid body without one is its inertia ellipsoid. */
function allShapes() {
  const list = scene.shapes.map((shape) => makeShape(shape.body, shape.type, shape.mesh, shape.size, shape.position,
    shape.rotation, shape.color < 0 ? bodyColor(shape.body) : shape.color));
  const drawn = new Set(scene.shapes.map((shape) => shape.body));
  scene.bodies.forEach((body, index) => {
    if (drawn.has(index) || body.point) return;
    list.push(makeShape(index, 'ellipsoid', -1, body.size.map((half) => 2 * half), [0, 0, 0], body.axes, bodyColor(index)));
  });
  return list;
}

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

const shapes = allShapes();
const reach = new Float64Array(numBodies); // radius of a sphere about each body
for (const shape of shapes)
  if (shape.body >= 0)
    for (const corner of cornersOf(shape)) reach[shape.body] = Math.max(reach[shape.body], corner.length());

/** Half the extent of a stretched unit shape along axis r; m is 4 x 4 by columns. */
function halfExtent(type, m, r) {
  const x = m[r], y = m[4 + r], z = m[8 + r];
  if (type === 'sphere' || type === 'ellipsoid') return 0.5 * Math.hypot(x, y, z);
  if (type === 'cylinder' || type === 'cone') return 0.5 * (Math.hypot(x, y) + Math.abs(z));
  return 0.5 * (Math.abs(x) + Math.abs(y) + Math.abs(z));
}

/** Makes a box hold a shape where it is now. */
function expandByShape(box, shape) {
  const m = new Float64Array(16), point = new THREE.Vector3();
  writeProduct(m, 0, pose.m, matrixOf(shape.body), shape.matrix, 0);
  if (isNaN(m[12] + m[13] + m[14])) return;
  if (shape.mesh >= 0) {
    box.union(shape.box.clone().applyMatrix4(new THREE.Matrix4().fromArray(m)));
    return;
  }
  for (const sign of [-1, 1])
    box.expandByPoint(point.set(...[0, 1, 2].map((r) => m[12 + r] + sign * halfExtent(shape.type, m, r))));
}

/** The box around everything: all shapes at some times, positions at all. */
function findBounds() {
  const box = new THREE.Box3(), point = new THREE.Vector3();
  const samples = Math.min(numFrames, Math.max(4, Math.min(200, Math.floor(1e5 / (shapes.length + 1)))));
  for (let i = 0; i < samples; i++) {
    setPose((duration * i) / Math.max(samples - 1, 1));
    for (const shape of shapes) expandByShape(box, shape);
  }
  for (let b = 0; b < numBodies; b++)
    for (const side of [0, 1]) box.expandByPoint(point.set(...origin.map((x, c) => scene.ranges[6 * b + 2 * c + side] - x)));
  for (const marker of scene.markers) if (marker.body < 0) box.expandByPoint(point.set(...pointOf(-1, marker.position, [0, 0, 0])));
  return box;
}

const bounds = findBounds();
const extent = bounds.getSize(new THREE.Vector3()).length() || 1;

// Ellipsoids that would be too thin to be seen get some width, a quarter of their length at most.
for (const shape of shapes)
  if (shape.type === 'ellipsoid') {
    const { size, axes } = scene.bodies[shape.body], least = Math.min(0.0025 * extent, 0.25 * Math.max(...size));
    shape.matrix = localMatrix([0, 0, 0], axes, size.map((half) => 2 * Math.max(half, least)));
  }

// A body without shape and rotation is a small ball.
function addPoints() {
  const radius = extent * (numBodies > 100 ? 0.006 : 0.014);
  scene.bodies.forEach((body, index) => {
    if (!body.point || reach[index] > 0) return;
    reach[index] = radius;
    const size = [2 * radius, 2 * radius, 2 * radius];
    shapes.push(makeShape(index, 'sphere', -1, size, [0, 0, 0], [1, 0, 0, 0], bodyColor(index)));
  });
}
addPoints();

/** Size of symbols: as bodies are, within limits set by the whole. */
function symbolSize() {
  const sorted = Float64Array.from(reach).sort();
  const typical = sorted[sorted.length >> 1];
  return Math.min(Math.max(0.16 * typical, 0.0025 * extent), 0.014 * extent);
}
const symbol = symbolSize();

/** Up is the axis that gravity points down along most. */
function findUp() {
  const g = scene.gravity.map(Math.abs);
  const axis = Math.max(...g) === 0 ? 2 : g.indexOf(Math.max(...g));
  const up = new THREE.Vector3();
  up.setComponent(axis, scene.gravity[axis] > 0 ? -1 : 1);
  return up;
}
const up = findUp();

/** 1, 2 or 5 times a power of ten, near to x. */
function niceNumber(x) {
  const power = Math.pow(10, Math.floor(Math.log10(x)));
  const part = x / power;
  return power * (part < 1.5 ? 1 : part < 3.5 ? 2 : part < 7.5 ? 5 : 10);
}

// --- the layers -------------------------------------------------------------------------------

/** A layer is a group that a checkbox shows; follow() brings it to the pose, built when first seen. */
class Layer {
  constructor(key, title, build, available = true, shown = true) {
    Object.assign(this, { key, title, build, available, shown: shown && available, parts: null });
  }

  /** Its objects; what has follow() is brought along. */
  objects(stage) {
    if (!this.parts) {
      this.parts = this.build(stage);
      this.group = new THREE.Group();
      for (const part of this.parts) this.group.add(part);
      (this.key === 'floor' ? stage.background : stage.world).add(this.group);
    }
    return this.parts;
  }

  follow(stage) {
    for (const part of this.objects(stage)) if (part.follow) part.follow();
  }

  update(stage) {
    if (this.shown) this.follow(stage);
    if (this.group) this.group.visible = this.shown;
  }
}

function plainMaterial(color) {
  return new THREE.MeshPhongMaterial({ color, shininess: 25, specular: 0x181818 });
}

const manyShapes = shapes.length > 300;

/** The material of shapes: light is found for each pixel, or, where there are very many, for corners by Copies. */
function shapeMaterial() {
  return manyShapes ? new THREE.MeshBasicMaterial({ vertexColors: THREE.VertexColors })
    : new THREE.MeshPhongMaterial({ vertexColors: THREE.VertexColors, shininess: 30, specular: 0x181818 });
}

/** Shapes of one kind in one draw call. */
function shapeCopies(stage, type, items) {
  const mesh = fixedCopies(unitShape(type, items.length), stage.shapeMaterial, items);
  mesh.setColors(items.map((item) => item.color));
  if (manyShapes) mesh.bakeLight(stage.lights);
  return mesh;
}

/** A mesh of the model; it may be large, so the graphics move it. */
function meshOf(shape) {
  const mesh = new THREE.Mesh(meshShapes[shape.mesh], plainMaterial(shape.color));
  mesh.matrixAutoUpdate = false;
  mesh.frustumCulled = false;
  mesh.follow = () => writeProduct(mesh.matrix.elements, 0, pose.m, matrixOf(shape.body), shape.matrix, 0);
  return mesh;
}

function buildShapes(stage) {
  const types = [...new Set(shapes.filter((shape) => shape.mesh < 0).map((shape) => shape.type))];
  return types.map((type) => shapeCopies(stage, type, shapes.filter((shape) => shape.type === type)))
    .concat(shapes.filter((shape) => shape.mesh >= 0).map(meshOf), buildDots());
}

/** Bodies that are too small beside the whole are seen as dots, of some pixels however far they are. */
const smallBodies = scene.bodies.map((body, index) => index).filter((index) => reach[index] < 0.004 * extent);

function buildDots() {
  if (!smallBodies.length) return [];
  const geometry = new THREE.BufferGeometry();
  const points = new Float32Array(3 * smallBodies.length), colors = new Float32Array(3 * smallBodies.length);
  smallBodies.forEach((body, i) => new THREE.Color(bodyColor(body)).toArray(colors, 3 * i));
  geometry.setAttribute('position', new THREE.BufferAttribute(points, 3).setUsage(THREE.DynamicDrawUsage));
  geometry.setAttribute('color', new THREE.BufferAttribute(colors, 3));
  const dots = new THREE.Points(geometry, new THREE.PointsMaterial({ size: 4, sizeAttenuation: false, vertexColors: THREE.VertexColors }));
  dots.frustumCulled = false;
  dots.follow = () => {
    smallBodies.forEach((body, i) => points.set(pointOf(body, [0, 0, 0], [0, 0, 0]), 3 * i));
    geometry.attributes.position.needsUpdate = true;
  };
  return [dots];
}

/** The shapes again, pressed flat on the floor. */
function buildShadows(stage) {
  const flat = new THREE.Group();
  const n = up, floor = stage.floor + 2e-4 * extent;
  // x -> x - part (n.x) n + floor n, not quite flat, so that the matrix can be inverted
  const part = 1 - 1e-5, rest = floor - 1e-5 * stage.floor;
  const entry = (i, j) => (i === j ? 1 : 0) - part * n.getComponent(i) * n.getComponent(j);
  flat.matrix.set(entry(0, 0), entry(0, 1), entry(0, 2), rest * n.x, entry(1, 0), entry(1, 1), entry(1, 2), rest * n.y,
    entry(2, 0), entry(2, 1), entry(2, 2), rest * n.z, 0, 0, 0, 1);
  flat.matrixAutoUpdate = false;
  const bodies = stage.layers.get('shapes');
  for (const mesh of bodies.objects(stage).filter((part) => part.isMesh)) {
    const shadow = new THREE.Mesh(mesh.geometry, stage.shadowMaterial);
    shadow.frustumCulled = false;
    shadow.matrixAutoUpdate = false;
    shadow.matrix = mesh.matrix;
    flat.add(shadow);
  }
  flat.follow = () => { if (!bodies.shown) bodies.follow(stage); };
  return [flat];
}

function buildJoints(stage) {
  const byType = new Map();
  const rods = [];
  for (const joint of scene.joints) {
    if (joint.type === 'distance') { rods.push(joint.markers); continue; }
    const marker = scene.markers[joint.markers[joint.type.startsWith('rolling') ? 1 : 0]];
    const size = [symbol, symbol, symbol];
    if (!byType.has(joint.type)) byType.set(joint.type, []);
    byType.get(joint.type).push({ body: marker.body, matrix: localMatrix(marker.position, marker.rotation, size) });
  }
  const meshes = [];
  for (const [type, items] of byType)
    meshes.push(fixedCopies((jointSymbols[type] || otherJoint)(), stage.symbolMaterial, items));
  if (rods.length) meshes.push(rodCopies(rods, 0.45 * symbol, stage.symbolMaterial));
  return meshes;
}

/** Rods between pairs of markers. */
function rodCopies(pairs, radius, material) {
  const geometry = merged(placed(cylinder(1, 1), 0, 0, 0.5));
  const mesh = new Copies(geometry, material, pairs.length);
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

/** A coil between two markers. */
function springMesh(markers, radius, material) {
  const a = [0, 0, 0], b = [0, 0, 0];
  const ends = () => {
    pointOf(scene.markers[markers[0]].body, scene.markers[markers[0]].position, a);
    pointOf(scene.markers[markers[1]].body, scene.markers[markers[1]].position, b);
    return [b[0] - a[0], b[1] - a[1], b[2] - a[2]];
  };
  const length = Math.hypot(...ends());
  const mesh = new THREE.Mesh(coil(8, Math.max(length / radius, 1)), material);
  mesh.matrixAutoUpdate = false;
  mesh.frustumCulled = false;
  mesh.follow = () => {
    const d = ends();
    writeAlong(mesh.matrix.elements, 0, a, d, radius, Math.hypot(...d));
  };
  return mesh;
}

/** Coils, cones where a support holds a point, rings where a joint or a bushing has springs. */
function buildSprings(stage) {
  const lines = scene.forces.filter((force) => force.type === 'spring-damper');
  const supports = scene.forces.filter((force) => force.type === 'support');
  const turned = scene.forces.filter((force) => force.type === 'joint-spring' || force.type === 'bushing');
  const many = lines.length > 200;
  const parts = many ? [rodCopies(lines.map((force) => force.markers), 0.4 * symbol, stage.springMaterial)]
    : lines.map((force) => springMesh(force.markers, 1.6 * symbol, stage.springMaterial));
  if (supports.length)
    parts.push(fixedCopies(placed(alongZ(new THREE.ConeBufferGeometry(1, 1.6, 24)), 0, 0, -0.8), stage.springMaterial,
      supports.map((force) => ({ body: -1, matrix: localMatrix(force.anchor, [1, 0, 0, 0], [2 * symbol, 2 * symbol, 2 * symbol]) }))));
  if (turned.length)
    parts.push(fixedCopies(ring(2, 0.25), stage.springMaterial, turned.map((force) => {
      const marker = scene.markers[(force.type === 'bushing' ? force : scene.joints[force.joint]).markers[0]];
      return { body: marker.body, matrix: localMatrix(marker.position, marker.rotation, [symbol, symbol, symbol]) };
    })));
  return parts;
}

// --- arrows -----------------------------------------------------------------------------------

/** Turns a vector of a body into global axes. */
function turned(body, v, out) {
  const m = pose.m, at = matrixOf(body);
  for (let r = 0; r < 3; r++) out[r] = m[at + 4 * r] * v[0] + m[at + 4 * r + 1] * v[1] + m[at + 4 * r + 2] * v[2];
  return out;
}

/** Where and what: [{body, point, vector(time, out), largest}]. */
function recordedArrow(name, body, point) {
  const three = vectorChannel(name);
  if (!three) return null;
  let largest = 0;
  for (let i = 0; i < numFrames; i++)
    largest = Math.max(largest, Math.hypot(three[0].at(i), three[1].at(i), three[2].at(i)) || 0);
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

/** Shafts and heads; a torque has two heads.  The largest of all times has a quarter of the extent. */
function arrowMeshes(stage, arrows, color, heads) {
  const material = plainMaterial(color);
  const shafts = new Copies(merged(placed(cylinder(1, 1), 0, 0, 0.5)), material, arrows.length);
  const cones = new Copies(placed(alongZ(new THREE.ConeBufferGeometry(1, 1, 20)), 0, 0, 0.5), material, heads * arrows.length);
  const largest = Math.max(...arrows.map((arrow) => arrow.largest));
  const radius = 0.3 * symbol, point = [0, 0, 0], v = [0, 0, 0];
  shafts.follow = () => {
    const scale = (0.22 * extent * stage.arrowScale) / largest;
    arrows.forEach((arrow, i) => {
      pointOf(arrow.body, arrow.point, point);
      arrow.vector(stage.time, v);
      const length = scale * Math.hypot(v[0], v[1], v[2]);
      const head = Math.min(2.6 * symbol, 0.4 * length), thin = Math.min(radius, 0.12 * length);
      const unit = length > 0 ? scale / length : 0;
      writeAlong(shafts.matrices, 16 * i, point, v, thin, length - head);
      for (let k = 0; k < heads; k++) {
        const at = length - head * (1 + 0.7 * k);
        const tip = [0, 1, 2].map((c) => point[c] + at * unit * v[c]);
        writeAlong(cones.matrices, 16 * (heads * i + k), tip, v, 0.38 * head, head);
      }
    });
    shafts.place();
    cones.place();
  };
  return [shafts, cones];
}

// --- paths, axes, floor -----------------------------------------------------------------------

const maxPaths = 200;

/** Lines along which bodies, or markers, go: the whole way faint, the way so far strong. */
function pathLines(stage, items, colorOf) {
  const saved = stage.time;
  const step = Math.ceil(items.length / maxPaths);
  const chosen = items.filter((item, i) => i % step === 0);
  const arrays = chosen.map(() => new Float32Array(3 * numFrames));
  const point = [0, 0, 0];
  for (let f = 0; f < numFrames; f++) {
    setPose(times[f]);
    chosen.forEach((item, i) => {
      pointOf(item.body, item.point, point);
      const gap = isNaN(point[0] + point[1] + point[2]) && f > 0;
      arrays[i].set(gap ? arrays[i].subarray(3 * f - 3, 3 * f) : point, 3 * f);
    });
  }
  setPose(saved);
  const lines = [];
  chosen.forEach((item, i) => {
    const whole = new THREE.BufferGeometry();
    whole.setAttribute('position', new THREE.BufferAttribute(arrays[i], 3));
    const part = new THREE.BufferGeometry();
    part.setAttribute('position', whole.attributes.position);
    const color = colorOf(item);
    const faint = new THREE.Line(whole, new THREE.LineBasicMaterial({ color, transparent: true, opacity: 0.25 }));
    const strong = new THREE.Line(part, new THREE.LineBasicMaterial({ color }));
    strong.follow = () => part.setDrawRange(0, frameAt(stage.time) + 1);
    for (const line of [faint, strong]) { line.frustumCulled = false; lines.push(line); }
  });
  return lines;
}

/** The axes of bodies: x, y, z in the colours of the compass. */
function buildAxes() {
  const count = numBodies + 1;
  const geometry = new THREE.BufferGeometry();
  const points = new Float32Array(18 * count), colors = new Float32Array(18 * count);
  for (let i = 0; i < 6 * count; i++) new THREE.Color(axisColors[(i >> 1) % 3]).toArray(colors, 3 * i);
  geometry.setAttribute('position', new THREE.BufferAttribute(points, 3));
  geometry.setAttribute('color', new THREE.BufferAttribute(colors, 3));
  const lines = new THREE.LineSegments(geometry, new THREE.LineBasicMaterial({ vertexColors: THREE.VertexColors, depthTest: false, transparent: true }));
  lines.frustumCulled = false;
  lines.follow = () => {
    const end = [0, 0, 0], start = [0, 0, 0];
    for (let b = -1; b < numBodies; b++)
      for (let c = 0; c < 3; c++) {
        const arm = [0, 0, 0];
        arm[c] = b < 0 ? 0.1 * extent : Math.max(1.2 * reach[b], 2 * symbol);
        pointOf(b, [0, 0, 0], start);
        pointOf(b, arm, end);
        points.set(start, 18 * (b + 1) + 6 * c);
        points.set(end, 18 * (b + 1) + 6 * c + 3);
      }
    geometry.attributes.position.needsUpdate = true;
  };
  return [lines];
}
const axisColors = [0xd55e00, 0x009e73, 0x0072b2];

/** A floor of fine lines that fades out, drawn by its own shader. */
function buildFloor(stage) {
  const cell = niceNumber(extent / 12);
  const material = new THREE.ShaderMaterial({
    transparent: true, depthWrite: false, side: THREE.DoubleSide, extensions: { derivatives: true },
    uniforms: { cell: { value: cell }, fade: { value: 1.6 * extent }, color: { value: stage.gridColor }, middle: { value: new THREE.Vector2() } },
    vertexShader: 'varying vec2 p; void main() { p = position.xy; gl_Position = projectionMatrix * modelViewMatrix * vec4(position, 1.0); }',
    fragmentShader: `
      uniform float cell, fade; uniform vec3 color; uniform vec2 middle; varying vec2 p;
      float lines(float width) {
        vec2 q = p / width, slope = fwidth(q);
        vec2 near = abs(fract(q - 0.5) - 0.5) / max(slope, 1e-6);
        return (1.0 - min(min(near.x, near.y), 1.0)) * (1.0 - clamp(2.0 * max(slope.x, slope.y) - 0.3, 0.0, 1.0));
      }
      void main() {
        float fine = 0.35 * lines(cell), bold = 0.65 * lines(5.0 * cell);
        gl_FragColor = vec4(color, max(fine, bold) * smoothstep(1.0, 0.15, distance(p, middle) / fade));
      }`,
  });
  const floor = new THREE.Mesh(new THREE.PlaneBufferGeometry(8 * extent, 8 * extent), material);
  const turn = new THREE.Quaternion().setFromUnitVectors(new THREE.Vector3(0, 0, 1), up);
  const middle = bounds.getCenter(new THREE.Vector3()).applyQuaternion(turn.clone().inverse());
  floor.quaternion.copy(turn);
  floor.position.copy(up).multiplyScalar(stage.floor);
  material.uniforms.middle.value.set(middle.x, middle.y);
  floor.renderOrder = -1;
  stage.cell = cell;
  return [floor];
}

// --- the stage --------------------------------------------------------------------------------

/** Whether the processor does the work of the graphics: then smooth edges of many bodies cost too much. */
function isSoftware(gl) {
  const info = gl.getExtension('WEBGL_debug_renderer_info');
  return Boolean(info) && /swiftshader|llvmpipe|software/i.test(gl.getParameter(info.UNMASKED_RENDERER_WEBGL));
}

class Stage {
  constructor(canvas, floorCanvas) {
    this.canvas = canvas;
    this.time = 0;
    this.arrowScale = 1;
    this.followed = -1;
    // the floor has a canvas of its own, which changes with the view only
    this.floorRenderer = new THREE.WebGLRenderer({ canvas: floorCanvas, alpha: true });
    const antialias = numBodies <= 100 || !isSoftware(this.floorRenderer.getContext());
    this.renderer = new THREE.WebGLRenderer({ canvas, antialias, alpha: true });
    this.fullRatio = Math.min(window.devicePixelRatio || 1, 2);
    this.stillRatio = antialias ? this.fullRatio : 2 * this.fullRatio; // smooth edges in another way
    this.floorRenderer.setPixelRatio(this.fullRatio);
    this.setRatio(this.stillRatio);
    this.world = new THREE.Scene();
    this.background = new THREE.Scene();
    this.camera = new THREE.PerspectiveCamera(32, 1, 1, 2);
    this.camera.up.copy(up);
    this.controls = new THREE.OrbitControls(this.camera, canvas);
    this.controls.enableKeys = false;
    this.controls.screenSpacePanning = true;
    this.floor = this.findFloor();
    this.gridColor = new THREE.Color();
    this.shapeMaterial = shapeMaterial();
    this.symbolMaterial = plainMaterial(0x808080);
    this.springMaterial = plainMaterial(0x808080);
    this.shadowMaterial = new THREE.MeshBasicMaterial({ color: 0x808080 });
    this.addLights();
    this.addLayers();
    this.resetView();
  }

  /** Height of the lowest point of all times. */
  findFloor() {
    const low = bounds.min.dot(up), high = bounds.max.dot(up);
    return Math.min(low, high);
  }

  addLights() {
    const sky = new THREE.HemisphereLight(0xffffff, 0xaab4c2, 0.66);
    const sun = new THREE.DirectionalLight(0xffffff, 0.42);
    this.lamp = new THREE.DirectionalLight(0xffffff, 0.2); // where the eye is
    sky.position.copy(up);
    sun.position.copy(up).multiplyScalar(1.4).add(new THREE.Vector3(0.55, -0.8, 0.35));
    this.world.add(sky, sun, this.lamp);
    const white = new THREE.Color(sky.intensity, sky.intensity, sky.intensity);
    this.lights = { // the same for Copies: directions times brightness
      up, above: white, below: sky.groundColor.clone().multiply(white),
      sun: sun.position.clone().setLength(sun.intensity), lamp: new THREE.Vector3(),
    };
  }

  addLayers() {
    const forces = forceArrows(), reactions = jointArrows('force'), torques = torqueArrows();
    const springs = scene.forces.some((force) => ['spring-damper', 'support', 'joint-spring', 'bushing'].includes(force.type));
    const bodies = scene.bodies.map((body, index) => ({ body: index, point: [0, 0, 0] }));
    const markers = scene.markers.filter((marker) => marker.name && marker.body >= 0)
      .map((marker) => ({ body: marker.body, point: marker.position }));
    const list = [
      new Layer('shapes', 'Bodies', buildShapes),
      new Layer('joints', 'Joints', buildJoints, scene.joints.length > 0, numBodies <= 100),
      new Layer('springs', 'Springs', buildSprings, springs),
      new Layer('forces', 'Forces', (stage) => arrowMeshes(stage, forces, 0xd55e00, 1), forces.length > 0, false),
      new Layer('reactions', 'Reactions', (stage) => arrowMeshes(stage, reactions, 0xcc79a7, 1), reactions.length > 0, false),
      new Layer('torques', 'Torques', (stage) => arrowMeshes(stage, torques, 0x56b4e9, 2), torques.length > 0, false),
      new Layer('paths', 'Paths', (stage) => pathLines(stage, bodies, (item) => bodyColor(item.body)), true, numBodies <= 3),
      new Layer('marker-paths', 'Marker paths', (stage) => pathLines(stage, markers, (item) => bodyColor(item.body)), markers.length > 0, false),
      new Layer('floor', 'Floor', buildFloor),
      new Layer('shadows', 'Shadows', buildShadows, true, numBodies <= 200),
      new Layer('axes', 'Axes', buildAxes, true, false),
    ];
    this.layers = new Map(list.map((layer) => [layer.key, layer]));
  }

  /** Takes the colours of the page. */
  setTheme(dark) {
    this.dark = dark;
    this.gridColor.set(cssColor('--grid'));
    this.symbolMaterial.color.set(cssColor('--symbol'));
    this.springMaterial.color.set(cssColor('--s3'));
    this.shadowMaterial.color.set(cssColor('--shadow'));
  }

  /** From the side and above, so near that the box around everything just fits. */
  resetView() {
    const middle = bounds.getCenter(new THREE.Vector3());
    const turn = new THREE.Quaternion().setFromUnitVectors(new THREE.Vector3(0, 0, 1), up);
    const away = new THREE.Vector3(0.72, -1, 0.44).normalize().applyQuaternion(turn);
    const side = new THREE.Vector3().crossVectors(up, away).normalize();
    const top = new THREE.Vector3().crossVectors(away, side);
    const high = Math.tan((this.camera.fov * Math.PI) / 360) * 0.9, wide = high * this.camera.aspect;
    let distance = 0;
    for (let i = 0; i < 8; i++) {
      const corner = new THREE.Vector3(i & 1 ? bounds.max.x : bounds.min.x, i & 2 ? bounds.max.y : bounds.min.y,
        i & 4 ? bounds.max.z : bounds.min.z).sub(middle);
      const near = corner.dot(away);
      distance = Math.max(distance, near + Math.abs(corner.dot(side)) / wide, near + Math.abs(corner.dot(top)) / high);
    }
    this.controls.target.copy(middle);
    this.camera.position.copy(middle).addScaledVector(away, distance || extent);
    this.controls.update();
    this.lastFollowed = null;
  }

  /** Turns the view about its target by angles around up and across. */
  orbit(around, across) {
    const arm = this.camera.position.clone().sub(this.controls.target);
    const side = new THREE.Vector3().crossVectors(up, arm).normalize();
    const angle = arm.angleTo(up) + across;
    arm.applyAxisAngle(up, around);
    side.applyAxisAngle(up, around);
    if (angle > 0.02 && angle < Math.PI - 0.02) arm.applyAxisAngle(side, across);
    this.camera.position.copy(this.controls.target).add(arm);
    this.controls.update();
  }

  zoom(factor) {
    const arm = this.camera.position.clone().sub(this.controls.target).multiplyScalar(factor);
    this.camera.position.copy(this.controls.target).add(arm);
    this.controls.update();
  }

  /** Pixels of the picture for one of the page. */
  setRatio(ratio) {
    this.ratio = ratio;
    this.renderer.setPixelRatio(ratio);
  }

  /** Takes the size that the page gives; the pictures are empty then. */
  resize() {
    const { clientWidth: width, clientHeight: height } = this.canvas;
    if (!width || !height) return;
    for (const renderer of [this.renderer, this.floorRenderer]) renderer.setSize(width, height, false);
    this.lastView = '';
    this.camera.aspect = width / height;
    this.camera.updateProjectionMatrix();
  }

  /** Moves view and target along with the followed body. */
  followBody() {
    if (this.followed < 0) { this.lastFollowed = null; return; }
    const now = new THREE.Vector3(...pointOf(this.followed, [0, 0, 0], [0, 0, 0]));
    if (isNaN(now.x + now.y + now.z)) return;
    const last = this.lastFollowed || this.controls.target.clone();
    const step = now.clone().sub(last);
    this.controls.target.add(step);
    this.camera.position.add(step);
    this.lastFollowed = now;
    this.controls.update();
  }

  /** What is too near or too far to be seen, by how far the middle of the view is. */
  setDepth() {
    const distance = this.camera.position.distanceTo(this.controls.target);
    this.camera.near = distance / 200;
    this.camera.far = distance + 60 * extent;
    this.camera.updateProjectionMatrix();
  }

  setTime(time) {
    this.time = time;
    setPose(time);
    this.followBody();
    this.setDepth();
    this.lamp.position.copy(this.camera.position).sub(this.controls.target);
    this.lights.lamp.copy(this.lamp.position).setLength(this.lamp.intensity);
    for (const layer of this.layers.values()) layer.update(this);
  }

  /** Draws bodies, and the floor if the view of it changed; says whether it did. */
  render() {
    this.renderer.render(this.world, this.camera);
    const { matrixWorld, projectionMatrix, position } = this.camera;
    const view = [...matrixWorld.elements, ...projectionMatrix.elements, this.dark, this.layers.get('floor').shown].join();
    if (view === this.lastView) return false;
    this.lastView = view;
    this.floorRenderer.render(this.background, this.camera);
    this.canvas.parentElement.classList.toggle('below', position.dot(up) < this.floor);
    return true;
  }

  /** The nearest body under a point of the canvas, -1 if there is none: boxes around shapes are hit. */
  pick(x, y) {
    const ray = new THREE.Raycaster();
    const at = new THREE.Vector2((2 * x) / this.canvas.clientWidth - 1, 1 - (2 * y) / this.canvas.clientHeight);
    ray.setFromCamera(at, this.camera);
    const matrix = new THREE.Matrix4(), local = new THREE.Ray(), hit = new THREE.Vector3();
    let nearest = Infinity, found = -1;
    for (const shape of shapes) {
      if (shape.body < 0) continue;
      writeProduct(matrix.elements, 0, pose.m, matrixOf(shape.body), shape.matrix, 0);
      const back = new THREE.Matrix4().getInverse(matrix);
      local.copy(ray.ray).applyMatrix4(back);
      if (!local.intersectBox(shape.box, hit)) continue;
      const distance = hit.applyMatrix4(matrix).distanceTo(ray.ray.origin);
      if (distance < nearest) { nearest = distance; found = shape.body; }
    }
    return found < 0 ? this.pickDot(x, y) : found;
  }

  /** The small body whose dot is nearest to a point of the canvas, if it is within some pixels. */
  pickDot(x, y) {
    const at = new THREE.Vector3();
    let nearest = 8, found = -1;
    for (const body of smallBodies) {
      at.fromArray(pointOf(body, [0, 0, 0], [0, 0, 0])).project(this.camera);
      const distance = Math.hypot(0.5 * (1 + at.x) * this.canvas.clientWidth - x, 0.5 * (1 - at.y) * this.canvas.clientHeight - y);
      if (Math.abs(at.z) < 1 && distance < nearest) { nearest = distance; found = body; }
    }
    return found;
  }

  /** Axes and gravity as the camera sees them: [[name, x, y, depth], ...] on a unit disc. */
  compass() {
    const turn = new THREE.Matrix4().getInverse(this.camera.matrixWorld);
    const seen = (v) => { const w = v.clone().transformDirection(turn); return [w.x, -w.y, w.z]; };
    const list = [0, 1, 2].map((c) => ['xyz'[c], ...seen(new THREE.Vector3().setComponent(c, 1))]);
    const gravity = new THREE.Vector3(...scene.gravity);
    if (gravity.length() > 0) list.push(['g', ...seen(gravity.normalize())]);
    return list;
  }
}
