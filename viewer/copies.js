// Many copies of one geometry in one draw call, and the matrices that place them.

/** Copies of a geometry as instances; copy i has the matrix at 16 i of `matrices`, 4 x 4 by columns.  The geometry
 * belongs to these copies alone, since it holds their colours. */
class Instances extends THREE.InstancedMesh {
  constructor(geometry, material, count) {
    super(geometry, material, count);
    this.matrices = this.instanceMatrix.array;
    this.instanceMatrix.setUsage(THREE.DynamicDrawUsage);
    this.frustumCulled = false; // its bounds change
    this.castShadow = this.receiveShadow = true;
  }

  /** One colour for each copy; the material must have vertexColors. */
  setColors(colors) {
    const array = new Float32Array(3 * this.count);
    colors.forEach((color, i) => linear(color).toArray(array, 3 * i));
    this.geometry.setAttribute('color', new THREE.InstancedBufferAttribute(array, 3));
    return this;
  }

  /** To be called when the matrices have changed.  Copies without a place are not drawn. */
  place() {
    dropLost(this.matrices);
    this.instanceMatrix.needsUpdate = true;
  }
}

/** The same where the processor does the work of the graphics, which takes long over instances: the corners of all
 * copies are found here. */
class Corners extends THREE.Mesh {
  constructor(geometry, material, count) {
    super(new THREE.BufferGeometry(), material);
    const { position, normal, shade } = geometry.attributes;
    Object.assign(this, { source: geometry, count, corners: position.count, points: position.array, normals: normal.array });
    this.matrices = new Float32Array(16 * count);
    this.geometry.setIndex(this.repeatedIndex());
    for (const name of ['position', 'normal'])
      this.geometry.setAttribute(name, new THREE.BufferAttribute(new Float32Array(3 * count * this.corners), 3).setUsage(THREE.DynamicDrawUsage));
    if (shade) this.geometry.setAttribute('shade', new THREE.BufferAttribute(Float32Array.from({ length: count * this.corners }, (_, i) => shade.array[i % this.corners]), 1));
    this.frustumCulled = false;
    this.castShadow = true; // and receives none: looking that up for every pixel takes too long
  }

  repeatedIndex() {
    const { index } = this.source, size = index ? index.count : this.corners, all = new Uint32Array(this.count * size);
    for (let i = 0, at = 0; i < this.count; i++)
      for (let k = 0; k < size; k++) all[at++] = i * this.corners + (index ? index.array[k] : k);
    return new THREE.BufferAttribute(all, 1);
  }

  setColors(colors) {
    const array = new Float32Array(3 * this.count * this.corners);
    colors.forEach((color, i) => {
      const { r, g, b } = linear(color);
      for (let v = 0, at = 3 * i * this.corners; v < this.corners; v++, at += 3) { array[at] = r; array[at + 1] = g; array[at + 2] = b; }
    });
    this.geometry.setAttribute('color', new THREE.BufferAttribute(array, 3));
    return this;
  }

  place() {
    const { points, normals, matrices: m, count, geometry: { attributes } } = this, p = attributes.position.array, n = attributes.normal.array;
    dropLost(m);
    for (let i = 0, at = 0; i < count; i++) {
      const k = 16 * i;
      const ax = m[k], ay = m[k + 1], az = m[k + 2], bx = m[k + 4], by = m[k + 5], bz = m[k + 6];
      const cx = m[k + 8], cy = m[k + 9], cz = m[k + 10], dx = m[k + 12], dy = m[k + 13], dz = m[k + 14];
      // normals go with the inverse of the stretch along each axis
      const a = 1 / (ax * ax + ay * ay + az * az || 1), b = 1 / (bx * bx + by * by + bz * bz || 1);
      const c = 1 / (cx * cx + cy * cy + cz * cz || 1);
      for (let v = 0; v < points.length; v += 3, at += 3) {
        const x = points[v], y = points[v + 1], z = points[v + 2];
        p[at] = ax * x + bx * y + cx * z + dx;
        p[at + 1] = ay * x + by * y + cy * z + dy;
        p[at + 2] = az * x + bz * y + cz * z + dz;
        const u = a * normals[v], w = b * normals[v + 1], s = c * normals[v + 2];
        n[at] = ax * u + bx * w + cx * s;
        n[at + 1] = ay * u + by * w + cy * s;
        n[at + 2] = az * u + bz * w + cz * s;
      }
    }
    attributes.position.needsUpdate = attributes.normal.needsUpdate = true;
  }
}

/** Matrices of copies that have no place become zero. */
function dropLost(m) {
  for (let i = 0; i < m.length; i += 16) if (isNaN(m[i + 12] + m[i + 13] + m[i + 14])) m.fill(0, i, i + 16);
}

/** Whether the processor does the work of the graphics. */
function findSoftware() {
  const gl = document.createElement('canvas').getContext('webgl'), info = gl && gl.getExtension('WEBGL_debug_renderer_info');
  const name = info ? gl.getParameter(info.UNMASKED_RENDERER_WEBGL) : '';
  if (gl && gl.getExtension('WEBGL_lose_context')) gl.getExtension('WEBGL_lose_context').loseContext();
  return /swiftshader|llvmpipe|software/i.test(name);
}
const software = findSoftware();
const crowded = software && Math.max(scene.shapes.length, numBodies, ...scene.flexible.map((part) => (part.triangles ? 0 : part.points))) > 100; // too much for fine light

function makeCopies(geometry, material, count) {
  return crowded ? new Corners(geometry, material, count) : new Instances(geometry, material, count);
}

/** Gives a mesh a name, which tells what it shows. */
function named(name, mesh) {
  mesh.name = name;
  return mesh;
}

/** Columns of a (3 x 4, at) times b (3 x 4, at) into a 4 x 4 matrix of WebGL. */
function writeProduct(out, to, a, at, b, bt) {
  for (let c = 0; c < 4; c++) {
    const b0 = b[bt + c], b1 = b[bt + 4 + c], b2 = b[bt + 8 + c];
    out[to + 4 * c] = a[at] * b0 + a[at + 1] * b1 + a[at + 2] * b2 + (c === 3 ? a[at + 3] : 0);
    out[to + 4 * c + 1] = a[at + 4] * b0 + a[at + 5] * b1 + a[at + 6] * b2 + (c === 3 ? a[at + 7] : 0);
    out[to + 4 * c + 2] = a[at + 8] * b0 + a[at + 9] * b1 + a[at + 10] * b2 + (c === 3 ? a[at + 11] : 0);
    out[to + 4 * c + 3] = c === 3 ? 1 : 0;
  }
}

/** A 3 x 4 matrix: stretched, then turned, then moved. */
function localMatrix(position, rotation, size) {
  const m = new Float64Array(12);
  writeMatrix(m, 0, position, 0, rotation, 0);
  for (let r = 0; r < 3; r++) for (let c = 0; c < 3; c++) m[4 * r + c] *= size[c];
  return m;
}

/** Things fixed in bodies, all of one geometry: [{body, matrix}]. */
function fixedCopies(geometry, material, items) {
  const mesh = makeCopies(geometry, material, items.length);
  mesh.items = items;
  mesh.follow = () => {
    for (let i = 0; i < items.length; i++)
      writeProduct(mesh.matrices, 16 * i, pose.m, matrixOf(items[i].body), items[i].matrix, 0);
    mesh.place();
  };
  return mesh;
}

/** The matrix of a copy whose z axis goes from one point along d: radius across, length along. */
function writeAlong(out, to, from, d, radius, length) {
  const size = Math.hypot(d[0], d[1], d[2]) || 1;
  const z = [d[0] / size, d[1] / size, d[2] / size];
  const least = Math.abs(z[0]) < 0.6 ? [1, 0, 0] : [0, 1, 0];
  let x = [least[1] * z[2] - least[2] * z[1], least[2] * z[0] - least[0] * z[2], least[0] * z[1] - least[1] * z[0]];
  const norm = Math.hypot(x[0], x[1], x[2]) || 1;
  x = x.map((value) => value / norm);
  const y = [z[1] * x[2] - z[2] * x[1], z[2] * x[0] - z[0] * x[2], z[0] * x[1] - z[1] * x[0]];
  for (let r = 0; r < 3; r++) {
    out[to + r] = radius * x[r];
    out[to + 4 + r] = radius * y[r];
    out[to + 8 + r] = length * z[r];
    out[to + 12 + r] = from[r];
  }
  out[to + 3] = out[to + 7] = out[to + 11] = 0;
  out[to + 15] = 1;
}

/** The same as a 3 x 4 matrix, for things fixed in a body. */
function matrixAlong(from, d, radius, length) {
  const m = new Float64Array(16), out = new Float64Array(12);
  writeAlong(m, 0, from, d, radius, length);
  for (let r = 0; r < 3; r++) for (let c = 0; c < 4; c++) out[4 * r + c] = m[4 * c + r];
  return out;
}
