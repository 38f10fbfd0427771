// Flexible bodies as their modes deform them, and what they share with beams: colours by a quantity, and deformations
// that can be enlarged.

/** The flexible bodies that have something to draw: [{body, count, modes: [Int16Array], points, triangles, ...}];
 * amplitudes(run, time) are those of the modes in this or in the other run. */
const flexibleBodies = scene.flexible.map((one, number) => {
  const all = new Int16Array(readBytes(`flexible-modes-${number}`)), { name } = scene.bodies[one.body];
  return {
    ...one, name, count: one.points, points: new Float32Array(readBytes(`flexible-points-${number}`)), color: bodyColor(one.body),
    triangles: new Uint16Array(readBytes(`flexible-triangles-${number}`)),
    modes: Array.from({ length: one.modes }, (_, k) => all.subarray(3 * one.points * k, 3 * one.points * (k + 1))),
    amplitudes: (run, time) => Array.from({ length: one.modes }, (_, k) => {
      const channel = run.get(`${name}.mode.${k + 1}`);
      return channel ? channel.atTime(time) || 0 : 0;
    }),
  };
}).filter((part) => part.count > 0);

/** Amplitudes of this run. */
const ownModes = { get: (name) => { const channel = channels.get(name); return channel && { atTime: (time) => valueAt(channel, time) }; } };

/** The displacements of every `step`th point: the sum of the modes. */
function displace(part, amplitudes, moved, step = 1) {
  moved.fill(0);
  part.modes.forEach((mode, k) => {
    const q = part.unit * amplitudes[k];
    if (q === 0) return;
    if (step === 1) for (let i = 0; i < moved.length; i++) moved[i] += q * mode[i];
    else for (let i = 0; i + 2 < moved.length; i += 3 * step) for (let c = i; c < i + 3; c++) moved[c] += q * mode[c];
  });
}

const lengthAt = (array, point) => Math.hypot(array[3 * point], array[3 * point + 1], array[3 * point + 2]);

/** Normals of a surface: the sum of those of the triangles at each point. */
function writeNormals(p, triangles, n) {
  n.fill(0);
  for (let t = 0; t < triangles.length; t += 3) {
    const a = 3 * triangles[t], b = 3 * triangles[t + 1], c = 3 * triangles[t + 2];
    const ux = p[b] - p[a], uy = p[b + 1] - p[a + 1], uz = p[b + 2] - p[a + 2], vx = p[c] - p[a], vy = p[c + 1] - p[a + 1], vz = p[c + 2] - p[a + 2];
    const x = uy * vz - uz * vy, y = uz * vx - ux * vz, z = ux * vy - uy * vx;
    for (const at of [a, b, c]) { n[at] += x; n[at + 1] += y; n[at + 2] += z; }
  }
  for (let i = 0; i < n.length; i += 3) {
    const size = Math.hypot(n[i], n[i + 1], n[i + 2]) || 1;
    n[i] /= size; n[i + 1] /= size; n[i + 2] /= size;
  }
}

/** A surface in the axes of the body: its points moved by `moved` times `scale`. */
function flexibleSurface(part, material) {
  const geometry = new THREE.BufferGeometry(), arrays = {};
  for (const name of ['position', 'normal', 'color']) {
    arrays[name] = new Float32Array(3 * part.count);
    geometry.setAttribute(name, new THREE.BufferAttribute(arrays[name], 3).setUsage(THREE.DynamicDrawUsage));
  }
  geometry.setIndex(new THREE.BufferAttribute(part.triangles, 1));
  const mesh = new THREE.Mesh(geometry, material), place = new Float64Array([1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1, 0]);
  mesh.matrixAutoUpdate = mesh.frustumCulled = false;
  mesh.castShadow = mesh.receiveShadow = true;
  mesh.put = (at, moved, scale) => {
    const { position, normal } = arrays;
    for (let i = 0; i < position.length; i++) position[i] = part.points[i] + scale * moved[i];
    writeNormals(position, part.triangles, normal);
    geometry.attributes.position.needsUpdate = geometry.attributes.normal.needsUpdate = true;
    writeProduct(mesh.matrix.elements, 0, at.m, matrixOf(part.body), place, 0);
    mesh.visible = !mesh.matrix.elements.some(isNaN);
    mesh.matrixWorldNeedsUpdate = true;
  };
  mesh.paint = (color) => {
    for (let i = 0; i < part.count; i++) color(i).toArray(arrays.color, 3 * i);
    geometry.attributes.color.needsUpdate = true;
  };
  return mesh;
}

/** The radius of the balls that show nodes: a third of their mean distance. */
function nodeRadius(part) {
  const sizes = part.high.map((x, c) => x - part.low[c]), most = Math.max(...sizes), wide = sizes.filter((x) => x > 0.02 * most);
  const distance = Math.pow(wide.reduce((product, x) => product * x, 1) / part.count, 1 / wide.length);
  return Math.min(Math.max(0.3 * distance, 0.0012 * extent), 0.012 * extent);
}

/** What the name of a body says if not all of its nodes are drawn. */
function thinnedNodes(body) {
  const part = flexibleBodies.find((one) => one.body === body && !one.triangles.length && one.count < one.nodes);
  return part ? ` (${part.count} of ${part.nodes} nodes)` : '';
}

/** The nodes as balls. */
function flexibleNodes(part, material) {
  const mesh = makeCopies(unitShape('ball', part.count), material, part.count), size = 2 * nodeRadius(part), each = mesh.corners || 1;
  mesh.setColors(Array.from({ length: part.count }, () => part.color));
  mesh.put = (at, moved, scale) => {
    const { m } = at, row = matrixOf(part.body), to = mesh.matrices;
    for (let i = 0; i < part.count; i++) {
      const x = part.points[3 * i] + scale * moved[3 * i], y = part.points[3 * i + 1] + scale * moved[3 * i + 1], z = part.points[3 * i + 2] + scale * moved[3 * i + 2];
      to.fill(0, 16 * i, 16 * i + 16);
      for (let r = 0; r < 3; r++) {
        to[16 * i + 5 * r] = size;
        to[16 * i + 12 + r] = m[row + 4 * r] * x + m[row + 4 * r + 1] * y + m[row + 4 * r + 2] * z + m[row + 4 * r + 3];
      }
      to[16 * i + 15] = 1;
    }
    mesh.place();
  };
  mesh.paint = (color) => {
    const { array } = mesh.geometry.attributes.color;
    for (let i = 0; i < part.count; i++) {
      const { r, g, b } = color(i);
      for (let at = 3 * each * i; at < 3 * each * (i + 1); at += 3) { array[at] = r; array[at + 1] = g; array[at + 2] = b; }
    }
    mesh.geometry.attributes.color.needsUpdate = true;
  };
  return mesh;
}

/** A flexible body to be drawn; shape(at, amplitudes, scale) brings it to a pose. */
function flexibleMesh(part, materials) {
  const mesh = named('flexible', part.triangles.length ? flexibleSurface(part, materials.surface) : flexibleNodes(part, materials.nodes));
  mesh.moved = new Float32Array(3 * part.count);
  mesh.shape = (at, amplitudes, scale) => {
    displace(part, amplitudes, mesh.moved);
    mesh.put(at, mesh.moved, scale);
  };
  return mesh;
}

/** Materials of surfaces and of nodes with a look. */
function flexibleMaterials(stage, look) {
  return { surface: stage.materials.make(0xffffff, { ...look, vertexColors: THREE.VertexColors }), nodes: stage.materials.colored(look) };
}

// --- colours by deformation -------------------------------------------------------------------------

/** How far points are from where they are in the undeformed body, in the axes of the reference frame. */
class DeformationColors {
  constructor() {
    Object.assign(this, { unit: 'm', low: 0, high: this.highest(), colors: ramps.even, ramp: ramps.even.map(linear) });
  }

  /** The largest of the whole run, by some of the points and frames if they are many. */
  highest() {
    let high = 0;
    for (const part of flexibleBodies) {
      const step = Math.ceil(part.count / 2000), moved = new Float32Array(3 * part.count);
      const every = Math.ceil((numFrames * part.count * part.modes.length) / step / 3e7);
      for (let frame = 0; frame < numFrames; frame += every) {
        displace(part, part.amplitudes(ownModes, times[frame]), moved, step);
        for (let i = 0; i < part.count; i += step) high = Math.max(high, lengthAt(moved, i));
      }
    }
    return high;
  }

  paint(mesh) {
    const color = new THREE.Color();
    mesh.paint((i) => rampAt(this.ramp, lengthAt(mesh.moved, i) / (this.high || 1), color));
  }
}

// --- the part of the layer of bodies -----------------------------------------------------------------

/** What is chosen on the page for beams and flexible bodies. */
const elastic = { quantity: '', colors: null, scale: 1 };

function buildFlexible(stage) {
  if (!flexibleBodies.length) return [];
  const materials = flexibleMaterials(stage, stage.bodyLook);
  stage.bodyMaterials.push(materials.surface, materials.nodes);
  return flexibleBodies.map((part) => {
    const mesh = flexibleMesh(part, materials), plain = linear(part.color);
    let painted = true;
    mesh.follow = () => {
      const colored = elastic.colors instanceof DeformationColors;
      mesh.shape(pose, part.amplitudes(ownModes, stage.time), elastic.scale);
      if (colored) elastic.colors.paint(mesh);
      else if (painted) mesh.paint(() => plain);
      painted = colored;
    };
    return mesh;
  });
}

/** Pale flexible bodies, as they are in a pose with the amplitudes of a run at a time. */
function paleFlexible(materials, at, run, time) {
  return flexibleBodies.map((part) => {
    const mesh = flexibleMesh(part, materials), color = linear(part.color).lerp(linear(0xffffff), 0.35);
    mesh.castShadow = mesh.receiveShadow = false;
    mesh.renderOrder = 1;
    mesh.bring = (now) => mesh.shape(at, part.amplitudes(run, now), 1);
    mesh.bring(time);
    mesh.paint(() => color);
    return mesh;
  });
}

// --- what is chosen -----------------------------------------------------------------------------------

const elasticQuantities = () => [...(beams.length ? beamQuantities() : []), ...(flexibleBodies.length ? ['deformation'] : [])];

/** Colours beams and flexible bodies by a quantity, or as bodies if it is ''; gives what is wrong. */
function colorElastic(key) {
  if (key && !elasticQuantities().includes(key)) return elasticQuantities().length ? `must be one of ${elasticQuantities().join(', ')}` : 'there are no beams and flexible bodies';
  elastic.quantity = key;
  elastic.colors = key === 'deformation' ? new DeformationColors() : key ? new BeamColors(key) : null;
  $('elastic-color').value = key;
  $('ramp').hidden = !key;
  if (key) {
    const { low, high, unit, colors } = elastic.colors, text = (x) => (x === 0 ? '0' : Number(x.toPrecision(3)).toString());
    $('ramp-title').textContent = unit === '1' ? key : `${key}, ${unit}`;
    $('ramp-low').textContent = text(low);
    $('ramp-high').textContent = text(high);
    $('ramp-bar').style.background = `linear-gradient(to right, ${colors.map((color) => `#${color.toString(16).padStart(6, '0')}`).join()})`;
  }
  player.dirty = true;
}

/** Draws deformations enlarged by a factor. */
function scaleElastic(scale) {
  elastic.scale = scale;
  $('elastic-scale').value = String(Math.log10(scale));
  $('elastic-scale-value').textContent = `\u00d7${Number(scale.toPrecision(2))}`;
  player.dirty = true;
}
