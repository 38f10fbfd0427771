// Many copies of one geometry in one draw call.  Their corners are found here, not by the graphics: that
// is little work (0.5 ms for 50 000 corners), where a software renderer takes long over instances.

/** Copies of a geometry; copy i has the matrix at 16 i of `matrices`, 4 x 4 by columns. */
class Copies extends THREE.Mesh {
  constructor(geometry, material, count) {
    super(new THREE.BufferGeometry(), material);
    const { position, normal } = geometry.attributes;
    Object.assign(this, { source: geometry, count, corners: position.count, points: position.array, normals: normal.array });
    this.matrices = new Float32Array(16 * count);
    this.geometry.setIndex(this.repeatedIndex());
    this.p = this.changing('position', new Float32Array(3 * count * this.corners), 3);
    this.n = this.changing('normal', new Float32Array(3 * count * this.corners), 3);
    this.frustumCulled = false; // its bounds change
  }

  repeatedIndex() {
    const { index } = this.source;
    const size = index ? index.count : this.corners, all = new Uint32Array(this.count * size);
    for (let i = 0, at = 0; i < this.count; i++)
      for (let k = 0; k < size; k++) all[at++] = i * this.corners + (index ? index.array[k] : k);
    return new THREE.BufferAttribute(all, 1);
  }

  /** An attribute that every frame writes anew; gives its array. */
  changing(name, array, size) {
    this.geometry.setAttribute(name, new THREE.BufferAttribute(array, size, size === 4).setUsage(THREE.DynamicDrawUsage));
    return array;
  }

  /** One colour for each copy, times the shade of each corner. */
  setColors(colors) {
    const shade = this.source.attributes.shade.array, color = new THREE.Color();
    this.plain = new Float32Array(3 * this.count * this.corners);
    for (let i = 0, at = 0; i < this.count; i++)
      for (let v = 0; v < this.corners; v++, at += 3) color.set(colors[i]).multiplyScalar(shade[v]).toArray(this.plain, at);
    this.geometry.setAttribute('color', new THREE.BufferAttribute(this.plain, 3));
  }

  /** From now on light is found here too, at corners; the material must know no light. */
  bakeLight(lights) {
    this.lights = lights;
    this.geometry.deleteAttribute('normal');
    this.lit = this.changing('color', new Uint8Array(4 * this.count * this.corners), 4);
  }

  /** Brings all corners to where the matrices say. */
  place() {
    const { p, n, points, normals, matrices: m, count } = this;
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
    if (this.lights) this.shine();
    for (const attribute of Object.values(this.geometry.attributes))
      if (attribute.usage === THREE.DynamicDrawUsage) attribute.needsUpdate = true;
  }

  /** Colours under the lights, as MeshLambertMaterial has them. */
  shine() {
    const { n, plain, lit, lights: { up: u, sun, lamp, above, below } } = this;
    for (let v = 0, to = 0; v < plain.length; v += 3, to += 4) {
      const x = n[v], y = n[v + 1], z = n[v + 2], scale = 1 / Math.sqrt(x * x + y * y + z * z || 1);
      const high = 0.5 + 0.5 * scale * (x * u.x + y * u.y + z * u.z);
      const direct = scale * (Math.max(0, x * sun.x + y * sun.y + z * sun.z) + Math.max(0, x * lamp.x + y * lamp.y + z * lamp.z));
      lit[to] = Math.min(255, 255 * plain[v] * (direct + below.r + high * (above.r - below.r)));
      lit[to + 1] = Math.min(255, 255 * plain[v + 1] * (direct + below.g + high * (above.g - below.g)));
      lit[to + 2] = Math.min(255, 255 * plain[v + 2] * (direct + below.b + high * (above.b - below.b)));
      lit[to + 3] = 255;
    }
  }
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
  const mesh = new Copies(geometry, material, items.length);
  mesh.follow = () => {
    items.forEach(({ body, matrix }, i) => writeProduct(mesh.matrices, 16 * i, pose.m, matrixOf(body), matrix, 0));
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
  const norm = Math.hypot(x[0], x[1], x[2]);
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
