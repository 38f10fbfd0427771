// Geometries: unit shapes of bodies, parts of joints, coils, gears.  z is the axis of all.

/** Turns a geometry that lies along y, as three.js makes them, so that it lies along z. */
function alongZ(geometry) {
  return geometry.applyMatrix(new THREE.Matrix4().makeRotationX(Math.PI / 2));
}

/** Moved by (x, y, z) and turned by Euler angles. */
function placed(geometry, x, y, z, rx = 0, ry = 0, rz = 0) {
  const matrix = new THREE.Matrix4().makeRotationFromEuler(new THREE.Euler(rx, ry, rz));
  return geometry.applyMatrix(matrix.setPosition(x, y, z));
}

/** The corners of the triangles of a geometry, three by three. */
function cornersOfTriangles(geometry) {
  return geometry.index ? geometry.index.array : Uint32Array.from({ length: geometry.attributes.position.count }, (_, i) => i);
}

/** One geometry of several. */
function merged(...parts) {
  const result = new THREE.BufferGeometry(), order = [];
  let corners = 0;
  for (const part of parts) {
    for (const corner of cornersOfTriangles(part)) order.push(corners + corner);
    corners += part.attributes.position.count;
  }
  for (const name of ['position', 'normal'])
    result.setAttribute(name, new THREE.Float32BufferAttribute([].concat(...parts.map((part) => Array.from(part.attributes[name].array))), 3));
  result.setIndex(order);
  return result;
}

/** Gives each triangle a shade by where its middle is, so that turning can be seen.  Triangles share the
 * corners of one place, normal and shade. */
function shaded(geometry, brightness) {
  const { position: { array: p }, normal: { array: n } } = geometry.attributes, order = cornersOfTriangles(geometry);
  const known = new Map(), points = [], normals = [], shades = [], index = [];
  const cornerOf = (i, shade) => {
    const place = [p[i], p[i + 1], p[i + 2]], normal = [n[i], n[i + 1], n[i + 2]];
    const key = [...place, ...normal].map((x) => Math.round(1e4 * x)).join() + shade;
    if (!known.has(key)) {
      known.set(key, shades.length);
      points.push(...place); normals.push(...normal); shades.push(shade);
    }
    return known.get(key);
  };
  for (let t = 0; t < order.length; t += 3) {
    const at = [3 * order[t], 3 * order[t + 1], 3 * order[t + 2]];
    const shade = brightness(...[0, 1, 2].map((c) => p[at[0] + c] + p[at[1] + c] + p[at[2] + c]));
    index.push(...at.map((i) => cornerOf(i, shade)));
  }
  const result = new THREE.BufferGeometry();
  result.setAttribute('position', new THREE.Float32BufferAttribute(points, 3));
  result.setAttribute('normal', new THREE.Float32BufferAttribute(normals, 3));
  result.setAttribute('shade', new THREE.Float32BufferAttribute(shades, 1));
  result.setIndex(index);
  return result;
}

const octants = (x, y, z) => (x * y * z > 0 ? 1 : 0.66);
const quadrants = (x, y) => (x * y > 0 ? 1 : 0.78);
const even = () => 1;

/** Shapes of unit size; the more there are, the coarser.  Those that turn have two tones. */
function unitShape(type, count, turns = true) {
  const round = count > 5000 && crowded ? 6 : count > 2000 || (count > 400 && crowded) ? 8 : count > 400 ? 12 : count > 100 ? 20 : count > 20 ? 32 : 64;
  const tone = (brightness) => (turns ? brightness : even);
  switch (type) {
    case 'box': return shaded(new THREE.BoxBufferGeometry(1, 1, 1), even);
    case 'cylinder': return shaded(alongZ(new THREE.CylinderBufferGeometry(0.5, 0.5, 1, round, 1)), tone(quadrants));
    case 'cone': return shaded(alongZ(new THREE.CylinderBufferGeometry(0, 0.5, 1, round, 1)), tone(quadrants));
    case 'rod': return shaded(alongZ(new THREE.CylinderBufferGeometry(0.5, 0.5, 1, Math.min(round, 24), 1, true)), even);
    case 'ball': return shaded(new THREE.SphereBufferGeometry(0.5, Math.min(round, 32), Math.max(Math.min(round, 32) / 2, 6)), even);
    default: return shaded(alongZ(new THREE.SphereBufferGeometry(0.5, Math.max(round, 12), Math.max(round / 2, 6))), tone(octants));
  }
}

/** A mesh of the model: triangles with flat normals. */
function meshShape(number) {
  const geometry = new THREE.BufferGeometry();
  const points = new Float32Array(readBytes(`mesh-${number}`));
  geometry.setAttribute('position', new THREE.BufferAttribute(points, 3));
  geometry.computeVertexNormals();
  geometry.computeBoundingBox();
  return geometry;
}

/** The meshes of the page by number. */
const meshShapes = scene.shapes.filter((shape) => shape.mesh >= 0).map((shape) => meshShape(shape.mesh));
const unitBox = new THREE.Box3(new THREE.Vector3(-0.5, -0.5, -0.5), new THREE.Vector3(0.5, 0.5, 0.5));

const cylinder = (radius, length) => alongZ(new THREE.CylinderBufferGeometry(radius, radius, length, 24));
const ball = (radius) => new THREE.SphereBufferGeometry(radius, 24, 16);
const box = (x, y, z) => new THREE.BoxBufferGeometry(x, y, z);
const ring = (radius, thickness) => new THREE.TorusBufferGeometry(radius, thickness, 10, 32);

/** A tube: a cylinder with a hole, of length 1 about the origin. */
function tube(inner, outer, sides = 32) {
  const profile = [[inner, -0.5], [outer, -0.5], [outer, 0.5], [inner, 0.5], [inner, -0.5]].map(([r, z]) => new THREE.Vector2(r, z));
  const corners = [];
  // each face has corners of its own, so that edges stay sharp
  for (let i = 0; i + 1 < profile.length; i++) corners.push(alongZ(new THREE.LatheBufferGeometry([profile[i], profile[i + 1]], sides)));
  const result = merged(...corners);
  result.computeVertexNormals();
  return result;
}

/** Joints that have no parts of their own size (joints.js), in units of the symbols' size; any other is an
 * octahedron. */
const jointSymbols = {
  fixed: () => box(1.7, 1.7, 1.7),
  spherical: () => ball(1.05),
  universal: () => merged(placed(cylinder(0.4, 2.6), 0, 0, 0, 0, Math.PI / 2), placed(cylinder(0.4, 2.6), 0, 0, 0, Math.PI / 2), ball(0.75)),
  planar: () => merged(cylinder(2, 0.2), cylinder(0.35, 1.4)),
  'point-on-line': () => merged(cylinder(0.22, 5), ball(0.7)),
  'point-in-plane': () => merged(box(3.4, 3.4, 0.15), ball(0.7)),
  parallel: () => merged(placed(cylinder(0.25, 3), 0.6, 0, 0), placed(cylinder(0.25, 3), -0.6, 0, 0)),
  'constant-velocity': () => merged(ball(0.8), ring(1.2, 0.22)),
  'rolling-sphere': () => merged(ring(1.1, 0.2), ball(0.4)),
  'rolling-disk': () => merged(ring(1.1, 0.2), ball(0.4)),
};
const otherJoint = () => new THREE.OctahedronBufferGeometry(1.2);

/** A flat spiral spring about z, of radius 1. */
function spiral(turns) {
  const points = [];
  for (let i = 0; i <= 24 * turns; i++) {
    const angle = (2 * Math.PI * i) / 24, r = 0.35 + (0.65 * i) / (24 * turns);
    points.push(new THREE.Vector3(r * Math.cos(angle), r * Math.sin(angle), 0));
  }
  return new THREE.TubeBufferGeometry(new THREE.CatmullRomCurve3(points), 40 * turns, 0.07, 8);
}

/** A wheel of `teeth` teeth, pitch radius 1, about z, of thickness 1: its outline is filled, and goes around the
 * rim (inside: a ring with teeth inwards).  The flanks are straight, which is close to an involute. */
function gear(teeth, inside) {
  const module = 2 / teeth, sign = inside ? -1 : 1, outline = [];
  const tip = 1 + sign * 0.95 * module, foot = 1 - sign * 1.1 * module, pitch = (2 * Math.PI) / teeth;
  for (let i = 0; i < teeth; i++)
    for (const [part, r] of [[-0.36, foot], [-0.13, tip], [0.13, tip], [0.36, foot]])
      outline.push(new THREE.Vector2(r * Math.cos((i + part) * pitch), r * Math.sin((i + part) * pitch)));
  const circle = (r) => Array.from({ length: 72 }, (_, i) => new THREE.Vector2(r * Math.cos((i * Math.PI) / 36), r * Math.sin((i * Math.PI) / 36)));
  const shape = new THREE.Shape(inside ? circle(1 + 4 * module) : outline);
  const hole = new THREE.Path(inside ? outline : circle(0.16));
  shape.holes.push(hole);
  const solid = new THREE.ExtrudeBufferGeometry(shape, { depth: 1, bevelEnabled: false });
  return shaded(solid.translate(0, 0, -0.5), even);
}

/** A coil from the origin along z, of length 1 and radius 1; the wire is round where 1 along z is
 * `aspect` times 1 across. */
function coil(turns, aspect) {
  const ends = 0.1 * aspect;
  const points = [new THREE.Vector3(0, 0, 0), new THREE.Vector3(0, 0, 0.6 * ends)];
  for (let i = 0; i <= 16 * turns; i++) {
    const angle = (2 * Math.PI * i) / 16, part = i / (16 * turns);
    points.push(new THREE.Vector3(Math.cos(angle), Math.sin(angle), ends + (aspect - 2 * ends) * part));
  }
  points.push(new THREE.Vector3(0, 0, aspect - 0.6 * ends), new THREE.Vector3(0, 0, aspect));
  const curve = new THREE.CatmullRomCurve3(points, false, 'catmullrom', 0.4);
  const tube = new THREE.TubeBufferGeometry(curve, 24 * turns, 0.16, 8);
  return tube.applyMatrix(new THREE.Matrix4().makeScale(1, 1, 1 / aspect));
}
