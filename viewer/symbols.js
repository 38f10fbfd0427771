// Geometries: unit shapes of bodies, symbols of joints, springs and arrows.  z is the axis of all.

/** Turns a geometry that lies along y, as three.js makes them, so that it lies along z. */
function alongZ(geometry) {
  return geometry.applyMatrix(new THREE.Matrix4().makeRotationX(Math.PI / 2));
}

/** Moved by (x, y, z) and turned by Euler angles. */
function placed(geometry, x, y, z, rx = 0, ry = 0, rz = 0) {
  const matrix = new THREE.Matrix4().makeRotationFromEuler(new THREE.Euler(rx, ry, rz));
  return geometry.applyMatrix(matrix.setPosition(x, y, z));
}

/** One geometry of several, without index. */
function merged(...parts) {
  const flat = parts.map((part) => (part.index ? part.toNonIndexed() : part));
  const result = new THREE.BufferGeometry();
  for (const name of ['position', 'normal']) {
    const arrays = flat.map((part) => part.attributes[name].array);
    const all = new Float32Array(arrays.reduce((sum, array) => sum + array.length, 0));
    let at = 0;
    for (const array of arrays) { all.set(array, at); at += array.length; }
    result.setAttribute(name, new THREE.BufferAttribute(all, 3));
  }
  return result;
}

/** Adds a brightness to each triangle by where its middle is, so that turning can be seen. */
function shaded(geometry, brightness) {
  const flat = merged(geometry);
  const p = flat.attributes.position.array;
  const shade = new Float32Array(p.length / 3).fill(1);
  if (brightness)
    for (let i = 0; i < shade.length; i += 3) {
      const middle = [0, 1, 2].map((c) => p[3 * i + c] + p[3 * i + 3 + c] + p[3 * i + 6 + c]);
      shade.fill(brightness(middle), i, i + 3);
    }
  flat.setAttribute('shade', new THREE.BufferAttribute(shade, 1));
  return flat;
}

/** The same by corners, which triangles share: less work where there are very many. */
function shadedCorners(geometry, brightness) {
  const p = geometry.attributes.position.array;
  const shade = new Float32Array(p.length / 3).map((_, i) => (brightness ? brightness(p.subarray(3 * i, 3 * i + 3)) : 1));
  geometry.setAttribute('shade', new THREE.BufferAttribute(shade, 1));
  return geometry;
}

const octants = ([x, y, z]) => (x * y * z > 0 ? 1 : 0.72);
const quadrants = ([x, y]) => (x * y > 0 ? 1 : 0.8);

/** Shapes of unit size; the more there are, the coarser. */
function unitShape(type, count) {
  const round = count > 400 ? 8 : count > 100 ? 16 : 48;
  const paint = count > 400 ? shadedCorners : shaded;
  switch (type) {
    case 'box': return paint(new THREE.BoxBufferGeometry(1, 1, 1));
    case 'cylinder': return paint(alongZ(new THREE.CylinderBufferGeometry(0.5, 0.5, 1, round, 1)), quadrants);
    case 'cone': return paint(alongZ(new THREE.CylinderBufferGeometry(0, 0.5, 1, round, 1)), quadrants);
    default: return paint(alongZ(new THREE.SphereBufferGeometry(0.5, Math.max(round, 12), Math.max(round / 2, 6))), octants);
  }
}

/** A mesh of the model: triangles with flat normals. */
function meshShape(number) {
  const geometry = new THREE.BufferGeometry();
  const points = new Float32Array(readBytes(`mesh-${number}`));
  geometry.setAttribute('position', new THREE.BufferAttribute(points, 3));
  geometry.computeVertexNormals();
  const shape = shaded(geometry);
  shape.computeBoundingBox();
  return shape;
}

/** The meshes of the page by number. */
const meshShapes = scene.shapes.filter((shape) => shape.mesh >= 0).map((shape) => meshShape(shape.mesh));
const unitBox = new THREE.Box3(new THREE.Vector3(-0.5, -0.5, -0.5), new THREE.Vector3(0.5, 0.5, 0.5));

const cylinder = (radius, length) => alongZ(new THREE.CylinderBufferGeometry(radius, radius, length, 24));
const ball = (radius) => new THREE.SphereBufferGeometry(radius, 24, 16);
const box = (x, y, z) => new THREE.BoxBufferGeometry(x, y, z);
const ring = (radius, thickness) => new THREE.TorusBufferGeometry(radius, thickness, 10, 32);

/** What each type of joint looks like, in units of the symbols' size; any other is an octahedron. */
const jointSymbols = {
  fixed: () => box(1.5, 1.5, 1.5),
  revolute: () => merged(cylinder(0.5, 2.4), placed(cylinder(0.9, 0.3), 0, 0, 0.85), placed(cylinder(0.9, 0.3), 0, 0, -0.85)),
  prismatic: () => merged(box(0.5, 0.5, 4), box(1.3, 1.3, 1.8)),
  cylindrical: () => merged(cylinder(0.3, 4), cylinder(0.85, 1.8)),
  spherical: () => ball(0.95),
  universal: () => merged(placed(cylinder(0.35, 2.6), 0, 0, 0, 0, Math.PI / 2), placed(cylinder(0.35, 2.6), 0, 0, 0, Math.PI / 2), ball(0.6)),
  planar: () => merged(cylinder(2, 0.2), cylinder(0.35, 1.4)),
  'point-on-line': () => merged(cylinder(0.22, 5), ball(0.7)),
  'point-in-plane': () => merged(box(3.4, 3.4, 0.15), ball(0.7)),
  parallel: () => merged(placed(cylinder(0.25, 3), 0.6, 0, 0), placed(cylinder(0.25, 3), -0.6, 0, 0)),
  'constant-velocity': () => merged(ball(0.8), ring(1.2, 0.22)),
  'rolling-sphere': () => merged(ring(1.1, 0.2), ball(0.4)),
  'rolling-disk': () => merged(ring(1.1, 0.2), ball(0.4)),
};
const otherJoint = () => new THREE.OctahedronBufferGeometry(1.2);

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
