// Taking the view along: a picture, a glTF animation.

function download(blob, name) {
  const link = document.createElement('a');
  link.href = URL.createObjectURL(blob);
  link.download = name;
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 60000);
}

/** A name for files: letters, digits and dashes of the title. */
function fileName(ending) {
  const name = (scene.title || 'polhode').replace(/[^\p{L}\p{N}]+/gu, '-').replace(/^-+|-+$/g, '').slice(0, 60);
  return `${name || 'polhode'}.${ending}`;
}

/** The view as it is, with twice the pixels, as a PNG. */
async function takePicture() {
  const ratio = stage.ratio, fine = stage.fine, canvas = document.createElement('canvas');
  stage.setRatio(Math.max(2, stage.fullRatio));
  stage.fine = true;
  draw();
  const source = $('view');
  canvas.width = source.width;
  canvas.height = source.height;
  const c = canvas.getContext('2d');
  c.drawImage(source, 0, 0);
  if (stage.isShown('labels')) c.drawImage($('labels'), 0, 0, canvas.width, canvas.height);
  stage.setRatio(ratio);
  stage.fine = fine;
  draw();
  return new Promise((done) => canvas.toBlob(done, 'image/png'));
}

// --- glTF -----------------------------------------------------------------------------------------

/** Collects numbers for a glTF file: each array is a view of one buffer, starting at a multiple of 4. */
class Numbers {
  constructor() { Object.assign(this, { arrays: [], views: [], accessors: [], size: 0 }); }

  /** The number of the accessor of an array; bounds are asked for positions and times. */
  add(array, type, bounded) {
    const width = { SCALAR: 1, VEC3: 3, VEC4: 4 }[type], count = array.length / width;
    const accessor = { bufferView: this.views.length, componentType: array instanceof Uint32Array ? 5125 : 5126, count, type };
    if (bounded) {
      accessor.min = new Array(width).fill(Infinity);
      accessor.max = new Array(width).fill(-Infinity);
      array.forEach((x, i) => {
        accessor.min[i % width] = Math.min(accessor.min[i % width], x);
        accessor.max[i % width] = Math.max(accessor.max[i % width], x);
      });
    }
    this.views.push({ buffer: 0, byteOffset: this.size, byteLength: array.byteLength });
    this.arrays.push(array);
    this.size += array.byteLength;
    return this.accessors.push(accessor) - 1;
  }
}

/** Frames of the animation: 600 at most. */
function gltfFrames() {
  const step = Math.ceil(numFrames / 600);
  return Array.from({ length: numFrames }, (_, f) => f).filter((f) => f % step === 0 || f === numFrames - 1);
}

/** Translation and rotation of every body over time. */
function gltfAnimation(numbers, nodeOf) {
  const frames = gltfFrames(), input = numbers.add(Float32Array.from(frames, (f) => times[f]), 'SCALAR', true);
  const places = scene.bodies.map(() => new Float32Array(3 * frames.length)), turns = scene.bodies.map(() => new Float32Array(4 * frames.length));
  frames.forEach((f, i) => {
    setPose(times[f]);
    for (let b = 0; b < numBodies; b++) {
      for (let c = 0; c < 3; c++) places[b][3 * i + c] = (pose.x[3 * b + c] || 0) - origin[c];
      const q = pose.q.subarray(4 * b, 4 * b + 4);
      // the shorter way from the last one
      const dot = i ? [1, 2, 3, 0].reduce((sum, c, k) => sum + q[c] * turns[b][4 * i - 4 + k], 0) : 1;
      [1, 2, 3, 0].forEach((c, k) => { turns[b][4 * i + k] = dot < 0 ? -q[c] : q[c]; });
    }
  });
  setPose(stage.time);
  const channels = [], samplers = [];
  const add = (b, path, array, type) => {
    samplers.push({ input, output: numbers.add(array, type), interpolation: 'LINEAR' });
    channels.push({ sampler: samplers.length - 1, target: { node: nodeOf(b), path } });
  };
  for (let b = 0; b < numBodies; b++) {
    add(b, 'translation', places[b], 'VEC3');
    if (!scene.bodies[b].point) add(b, 'rotation', turns[b], 'VEC4');
  }
  return { name: 'motion', channels, samplers };
}

/** The bodies and their motion as a binary glTF 2.0 file: a node for each body, one below it for each shape. */
function makeGltf() {
  const numbers = new Numbers(), meshes = [], materials = [], meshOfKey = new Map(), nodes = [], materialOf = new Map();
  const material = (color) => {
    if (!materialOf.has(color)) {
      const pbrMetallicRoughness = { baseColorFactor: [...linear(color).toArray(), 1], metallicFactor: 0, roughnessFactor: 0.5 };
      materialOf.set(color, materials.push({ pbrMetallicRoughness }) - 1);
    }
    return materialOf.get(color);
  };
  const geometries = new Map();
  const mesh = (shape) => {
    const key = `${shape.type}:${shape.mesh}:${shape.color}`, form = `${shape.type}:${shape.mesh}`;
    if (meshOfKey.has(key)) return meshOfKey.get(key);
    if (!geometries.has(form)) {
      const geometry = shape.mesh >= 0 ? meshShapes[shape.mesh] : unitShape(shape.type, 50);
      geometries.set(form, {
        attributes: {
          POSITION: numbers.add(Float32Array.from(geometry.attributes.position.array), 'VEC3', true),
          NORMAL: numbers.add(Float32Array.from(geometry.attributes.normal.array), 'VEC3'),
        },
        indices: numbers.add(Uint32Array.from(cornersOfTriangles(geometry)), 'SCALAR'),
      });
    }
    meshOfKey.set(key, meshes.push({ primitives: [{ ...geometries.get(form), material: material(shape.color) }] }) - 1);
    return meshOfKey.get(key);
  };
  scene.bodies.forEach((body) => nodes.push({ name: body.name, children: [] }));
  nodes.push({ name: 'ground', children: [] });
  const nodeOf = (body) => (body < 0 ? numBodies : body);
  for (const shape of shapes) {
    if (shape.type === 'flexible') continue;
    const m = shape.matrix, matrix = [0, 1, 2, 3].flatMap((c) => [m[c], m[4 + c], m[8 + c], c === 3 ? 1 : 0]);
    nodes[nodeOf(shape.body)].children.push(nodes.push({ mesh: mesh(shape), matrix }) - 1);
  }
  // flexible bodies as they are without deformation
  for (const { body, points, triangles, color } of flexibleBodies.filter((part) => part.triangles.length)) {
    const normals = new Float32Array(points.length);
    writeNormals(points, triangles, normals);
    const attributes = { POSITION: numbers.add(points, 'VEC3', true), NORMAL: numbers.add(normals, 'VEC3') }, indices = numbers.add(Uint32Array.from(triangles), 'SCALAR');
    nodes[body].children.push(nodes.push({ mesh: meshes.push({ primitives: [{ attributes, indices, material: material(color) }] }) - 1 }) - 1);
  }
  const animation = gltfAnimation(numbers, nodeOf);
  for (const node of nodes) if (node.children && !node.children.length) delete node.children;
  // glTF has y up
  const turn = new THREE.Quaternion().setFromUnitVectors(up, new THREE.Vector3(0, 1, 0));
  const root = nodes.push({ name: scene.title || 'polhode', rotation: turn.toArray(), children: Array.from({ length: numBodies + 1 }, (_, i) => i) }) - 1;
  return packGltf({
    asset: { version: '2.0', generator: `polhode ${scene.version}` }, scene: 0, scenes: [{ nodes: [root] }], nodes, meshes, materials,
    animations: numFrames > 1 ? [animation] : undefined, accessors: numbers.accessors, bufferViews: numbers.views, buffers: [{ byteLength: numbers.size }],
  }, numbers);
}

/** Header, JSON and numbers, each filled up to a multiple of 4 (glTF 2.0, 4.4). */
function packGltf(gltf, numbers) {
  const text = new TextEncoder().encode(JSON.stringify(gltf)), filled = (text.length + 3) & ~3;
  const bytes = new Uint8Array(12 + 8 + filled + 8 + numbers.size), view = new DataView(bytes.buffer);
  [0x46546c67, 2, bytes.length, filled, 0x4e4f534a].forEach((x, i) => view.setUint32(4 * i, x, true));
  bytes.fill(0x20, 20, 20 + filled);
  bytes.set(text, 20);
  view.setUint32(20 + filled, numbers.size, true);
  view.setUint32(24 + filled, 0x004e4942, true);
  let at = 28 + filled;
  for (const array of numbers.arrays) {
    bytes.set(new Uint8Array(array.buffer, array.byteOffset, array.byteLength), at);
    at += array.byteLength;
  }
  return new Blob([bytes], { type: 'model/gltf-binary' });
}
