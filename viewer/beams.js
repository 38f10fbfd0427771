// Beams as one smooth body each: the section drawn along the helices of the elements, with colours for strains,
// section forces and displacements, and deformations that can be enlarged.

/** The beams: [{name, elements: [force], outline: [[y, z, ny, nz]], color, bodies}].  Elements that follow each
 * other end and start at one body. */
function findBeams() {
  const beams = [], markerOf = (number) => scene.markers[number];
  let last = null;
  for (const force of scene.forces) {
    if (force.type !== 'beam') { last = null; continue; }
    const [a, b] = force.markers.map((number) => markerOf(number).body);
    if (!last || last.end !== a) {
      last = { name: force.name.replace(/_\d+_\d+$/, ''), elements: [], bodies: [a] };
      beams.push(last);
    }
    last.elements.push(force);
    last.bodies.push(b);
    last.end = b;
  }
  for (const beam of beams) {
    const shape = scene.shapes.find((one) => one.body === beam.bodies[0]);
    beam.color = shape ? shape.color : bodyColor(beam.bodies[0]);
    beam.outline = sectionOutline(shape);
  }
  return beams;
}

/** Corners of a section with their normals, by which a face ends where a corner stands twice. */
function sectionOutline(shape) {
  if (shape && shape.type === 'box') {
    const y = 0.5 * Math.max(shape.size[1], 0.006 * roughScale), z = 0.5 * Math.max(shape.size[2], 0.006 * roughScale);
    return [[y, -z, 1, 0], [y, z, 1, 0], [y, z, 0, 1], [-y, z, 0, 1], [-y, z, -1, 0], [-y, -z, -1, 0], [-y, -z, 0, -1], [y, -z, 0, -1]];
  }
  const given = shape ? 0.5 * shape.size[0] : 0, r = Math.max(Math.min(given || 0, 0.02 * roughScale), 0.003 * roughScale);
  return Array.from({ length: 20 }, (_, i) => [Math.cos((i * Math.PI) / 10), Math.sin((i * Math.PI) / 10)]).map(([c, s]) => [r * c, r * s, c, s]);
}

const beams = findBeams();
const beamBodies = new Set([].concat(...beams.map((beam) => beam.bodies.filter((body) => body >= 0 && scene.bodies[body].name.startsWith(`${beam.name}_`)))));

/** Whether a shape is a piece of a beam, which is drawn as a whole, or the box of a flexible body. */
const drawnElastic = (shape) => beamBodies.has(shape.body) || shape.type === 'flexible';

// --- frames along an element ----------------------------------------------------------------------

/** The frame of a marker in a pose, as a quaternion (w, x, y, z) and a point. */
function markerFrame(number, at) {
  const { body, position, rotation } = scene.markers[number], x = [0, 0, 0];
  if (body < 0) return { q: rotation, x: position.map((value, c) => value - origin[c]) };
  const m = at.m, row = matrixOf(body);
  for (let r = 0; r < 3; r++) x[r] = m[row + 4 * r] * position[0] + m[row + 4 * r + 1] * position[1] + m[row + 4 * r + 2] * position[2] + m[row + 4 * r + 3];
  return { q: quatProduct(at.q.subarray(4 * body, 4 * body + 4), rotation), x };
}

function quatProduct(a, b) {
  return [a[0] * b[0] - a[1] * b[1] - a[2] * b[2] - a[3] * b[3], a[0] * b[1] + a[1] * b[0] + a[2] * b[3] - a[3] * b[2],
    a[0] * b[2] - a[1] * b[3] + a[2] * b[0] + a[3] * b[1], a[0] * b[3] + a[1] * b[2] - a[2] * b[1] + a[3] * b[0]];
}

const quatInverse = (q) => [q[0], -q[1], -q[2], -q[3]];
const cross = (a, b) => [a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0]];

/** The rotation vector of a quaternion. */
function rotationVector(q) {
  const size = Math.hypot(q[1], q[2], q[3]), sign = q[0] < 0 ? -1 : 1;
  const factor = size > 1e-12 ? (2 * Math.atan2(sign * size, sign * q[0])) / size : 2 * sign;
  return [factor * q[1], factor * q[2], factor * q[3]];
}

function quatOfVector(v) {
  const angle = Math.hypot(...v), factor = angle > 1e-9 ? Math.sin(0.5 * angle) / angle : 0.5;
  return [Math.cos(0.5 * angle), factor * v[0], factor * v[1], factor * v[2]];
}

/** (I + b hat(w) + c hat(w)^2) u */
function turnedSum(w, u, b, c) {
  const first = cross(w, u), second = cross(w, first);
  return u.map((x, i) => x + b * first[i] + c * second[i]);
}

/** exp(s log) between two frames: a piece of the helix that leads from one to the other. */
function helixBetween(first, second) {
  const w = rotationVector(quatProduct(quatInverse(first.q), second.q)), angle = Math.hypot(...w), square = angle * angle;
  const d = turnedBy(quatInverse(first.q), second.x.map((x, c) => x - first.x[c]));
  const small = angle < 1e-4, left = (s) => {
    const a = s * angle; // of T with exp(s w): s (I + b hat(w) + c hat(w)^2)
    return small ? [0.5 * s, (s * s) / 6] : [(1 - Math.cos(a)) / (square * s), (a - Math.sin(a)) / (square * angle * s)];
  };
  const u = turnedSum(w, d, -0.5, small ? 1 / 12 : (1 - (0.5 * angle) / Math.tan(0.5 * angle)) / square);
  return (s) => {
    if (s === 0) return first;
    const [b, c] = left(s), part = turnedSum(w, u, b, c).map((x) => s * x), moved = turnedBy(first.q, part);
    return { q: quatProduct(first.q, quatOfVector(w.map((x) => s * x))), x: moved.map((x, i) => x + first.x[i]) };
  };
}

/** A frame as seen from another, and back. */
function frameFrom(base, frame) {
  return { q: quatProduct(quatInverse(base.q), frame.q), x: turnedBy(quatInverse(base.q), frame.x.map((x, c) => x - base.x[c])) };
}
function frameIn(base, frame) {
  return { q: quatProduct(base.q, frame.q), x: turnedBy(base.q, frame.x).map((x, c) => x + base.x[c]) };
}

/** The frames of the ends of all elements in a pose.  Deformations are those against the start of the run, as seen
 * from the first end of the beam, times `scale`. */
function elementEnds(beam, at, scale) {
  const ends = beam.elements.map((force) => force.markers.map((number) => markerFrame(number, at)));
  if (scale === 1) return ends;
  const base = ends[0][0];
  return ends.map((pair, e) => pair.map((frame, k) => {
    const now = frameFrom(base, frame), then = beam.start[e][k];
    const turn = rotationVector(quatProduct(quatInverse(then.q), now.q)).map((x) => scale * x);
    return frameIn(base, { q: quatProduct(then.q, quatOfVector(turn)), x: then.x.map((x, c) => x + scale * (now.x[c] - x)) });
  }));
}

// --- the mesh --------------------------------------------------------------------------------------

/** Sections of an element: enough for a smooth line, few where there are many elements. */
const sectionsOf = (beam) => Math.max(1, Math.min(8, Math.ceil(80 / beam.elements.length)));

/** The mesh of a beam: rings of its outline along the helices, and caps; shape(at, scale) brings it to a pose. */
function beamMesh(beam, material) {
  const parts = sectionsOf(beam), corners = beam.outline.length, rings = beam.elements.length * (parts + 1) + 2;
  const points = new Float32Array(3 * rings * corners), normals = new Float32Array(3 * rings * corners), colors = new Float32Array(3 * rings * corners);
  const geometry = new THREE.BufferGeometry(), index = [], last = rings - 2;
  for (let ring = 0; ring < last; ring++)
    for (let i = 0; (ring + 1) % (parts + 1) && i < corners; i++) {
      const a = ring * corners + i, b = ring * corners + ((i + 1) % corners);
      index.push(a, b, a + corners, b, b + corners, a + corners);
    }
  for (let i = 1; i + 1 < corners; i++) index.push(last * corners, last * corners + i + 1, last * corners + i, (last + 1) * corners, (last + 1) * corners + i, (last + 1) * corners + i + 1);
  geometry.setIndex(index);
  for (const [name, array] of [['position', points], ['normal', normals], ['color', colors]])
    geometry.setAttribute(name, new THREE.BufferAttribute(array, 3).setUsage(THREE.DynamicDrawUsage));
  const mesh = named('beam', new THREE.Mesh(geometry, material));
  mesh.frustumCulled = false;
  mesh.castShadow = mesh.receiveShadow = true;
  const putRing = (ring, frame, face) => {
    const m = new Float64Array(12);
    writeMatrix(m, 0, frame.x, 0, frame.q, 0);
    beam.outline.forEach(([y, z, ny, nz], i) => {
      for (let r = 0; r < 3; r++) {
        const at = 3 * (ring * corners + i) + r;
        points[at] = m[4 * r + 1] * y + m[4 * r + 2] * z + m[4 * r + 3];
        normals[at] = face ? face * m[4 * r] : m[4 * r + 1] * ny + m[4 * r + 2] * nz;
      }
    });
  };
  mesh.shape = (at, scale) => {
    const ends = elementEnds(beam, at, scale);
    ends.forEach(([first, second], e) => {
      const along = helixBetween(first, second);
      for (let k = 0; k <= parts; k++) putRing(e * (parts + 1) + k, k === parts ? second : along(k / parts), 0);
    });
    putRing(last, ends[0][0], -1);
    putRing(last + 1, ends[ends.length - 1][1], 1);
    for (let i = 0; i < points.length; i++) if (isNaN(points[i])) points[i] = 0;
    geometry.attributes.position.needsUpdate = geometry.attributes.normal.needsUpdate = true;
  };
  /** color(element, part): part 0 to 1 along the element; the material must have vertexColors. */
  mesh.paint = (color) => {
    const put = (ring, c) => { for (let i = 0; i < corners; i++) c.toArray(colors, 3 * (ring * corners + i)); };
    for (let e = 0; e < beam.elements.length; e++)
      for (let k = 0; k <= parts; k++) put(e * (parts + 1) + k, color(e, k / parts));
    put(last, color(0, 0));
    put(last + 1, color(beam.elements.length - 1, 1));
    geometry.attributes.color.needsUpdate = true;
  };
  return mesh;
}

// --- colours by quantity ---------------------------------------------------------------------------

/** What beams can be coloured by: name -> {unit, of(element, frame)}. */
const sectionQuantities = {
  'axial strain': { names: ['strain.x'], unit: '1' }, 'shear strain': { names: ['strain.y', 'strain.z'], unit: '1' },
  torsion: { names: ['curvature.x'], unit: '1/m' }, curvature: { names: ['curvature.y', 'curvature.z'], unit: '1/m' },
  'axial force': { names: ['force_local.x'], unit: 'N' }, 'shear force': { names: ['force_local.y', 'force_local.z'], unit: 'N' },
  'torsion moment': { names: ['torque_local.x'], unit: 'N m' }, 'bending moment': { names: ['torque_local.y', 'torque_local.z'], unit: 'N m' },
};

/** Those that the page has numbers for; displacements always. */
function beamQuantities() {
  const elements = [].concat(...beams.map((beam) => beam.elements));
  return ['displacement', ...Object.keys(sectionQuantities).filter((key) => sectionQuantities[key].names.every((name) => elements.every((force) => channels.has(`${force.name}.${name}`))))];
}

/** For every kind of colour vision: even steps of lightness from dark violet to yellow, and blue against orange
 * where values have a sign. */
const ramps = { even: [0x440154, 0x414487, 0x2a788e, 0x22a884, 0x7ad151, 0xfde725], signed: [0x004c80, 0x4da3d6, 0xe8e8e8, 0xf0945a, 0xa84500] };
function rampAt(ramp, part, out) {
  const at = Math.min(Math.max(part || 0, 0), 1) * (ramp.length - 1), i = Math.min(Math.floor(at), ramp.length - 2);
  return out.copy(ramp[i]).lerp(ramp[i + 1], at - i);
}

/** The values of a quantity at a time: one for each element, those of displacements at both of its ends. */
class BeamColors {
  constructor(key) {
    const one = sectionQuantities[key];
    Object.assign(this, { key, unit: one ? one.unit : 'm', signed: Boolean(one) && one.names.length === 1 });
    this.channels = one ? beams.map((beam) => beam.elements.map((force) => one.names.map((name) => channels.get(`${force.name}.${name}`)))) : null;
    [this.low, this.high] = this.range();
    this.colors = ramps[this.low < 0 && this.high > 0 ? 'signed' : 'even'];
    this.ramp = this.colors.map(linear);
  }

  /** Of an element of a beam at a frame. */
  atFrame(b, e, frame) {
    const list = this.channels[b][e].map((channel) => (channel ? channel.at(frame) : NaN));
    return list.length === 1 ? list[0] : Math.hypot(...list);
  }

  atTime(b, e, time) {
    const [frame, part] = splitTime(time), value = this.atFrame(b, e, frame);
    return part > 0 ? value + part * (this.atFrame(b, e, frame + 1) - value) : value;
  }

  /** How far an end of an element is from where it was at the start. */
  displacement(b, e, end) {
    const x = markerFrame(beams[b].elements[e].markers[end], pose).x, then = beams[b].startPoints[e][end];
    return Math.hypot(x[0] - then[0], x[1] - then[1], x[2] - then[2]);
  }

  /** Lowest and highest value of the whole run. */
  range() {
    let low = Infinity, high = -Infinity;
    const step = Math.max(1, Math.ceil((numFrames * beams.reduce((sum, beam) => sum + beam.elements.length, 0)) / 2e5)), saved = stage ? stage.time : 0;
    const take = (value) => { if (value < low) low = value; if (value > high) high = value; };
    for (let frame = 0; frame < numFrames; frame += step) {
      if (!this.channels) setPose(times[frame]);
      beams.forEach((beam, b) => beam.elements.forEach((_, e) => {
        if (this.channels) take(this.atFrame(b, e, frame));
        else take(this.displacement(b, e, 1));
      }));
    }
    if (!this.channels) { setPose(saved); low = 0; }
    if (!(low <= high)) return [0, 0];
    if (!this.signed) return [0, high];
    return low < 0 && high > 0 ? [-Math.max(-low, high), Math.max(-low, high)] : [low, high];
  }

  paint(b, mesh, time) {
    const width = this.high - this.low || 1, color = new THREE.Color();
    const share = (value) => rampAt(this.ramp, (value - this.low) / width, color);
    if (this.channels) {
      // one number for each element: smooth from middle to middle
      const values = beams[b].elements.map((_, e) => this.atTime(b, e, time)), n = values.length;
      mesh.paint((e, s) => {
        const other = Math.min(Math.max(s < 0.5 ? e - 1 : e + 1, 0), n - 1);
        return share(values[e] + Math.abs(s - 0.5) * (values[other] - values[e]));
      });
    } else {
      const ends = beams[b].elements.map((_, e) => [0, 1].map((end) => this.displacement(b, e, end)));
      mesh.paint((e, s) => share(ends[e][0] + s * (ends[e][1] - ends[e][0])));
    }
  }
}

// --- the part of the layer of bodies -----------------------------------------------------------------

// where the ends of all elements are at the start, and as seen from the first end of their beam
if (beams.length) setPose(0);
for (const beam of beams) {
  const ends = elementEnds(beam, pose, 1);
  beam.start = ends.map((pair) => pair.map((frame) => frameFrom(ends[0][0], frame)));
  beam.startPoints = ends.map((pair) => pair.map((frame) => frame.x));
}

function buildBeams(stage) {
  const material = stage.materials.make(0xffffff, { ...stage.bodyLook, vertexColors: THREE.VertexColors });
  stage.bodyMaterials.push(material);
  return beams.map((beam, b) => {
    const mesh = beamMesh(beam, material), plain = linear(beam.color);
    let painted = true;
    mesh.follow = () => {
      const colored = elastic.colors instanceof BeamColors;
      mesh.shape(pose, elastic.scale);
      if (colored) elastic.colors.paint(b, mesh, stage.time);
      else if (painted) mesh.paint(() => plain);
      painted = colored;
    };
    return mesh;
  });
}

/** Pale beams as they are in a pose. */
function paleBeams(material, at) {
  return beams.map((beam) => {
    const mesh = beamMesh(beam, material), color = linear(beam.color).lerp(linear(0xffffff), 0.35);
    mesh.castShadow = mesh.receiveShadow = false;
    mesh.renderOrder = 1;
    mesh.shape(at, 1);
    mesh.paint(() => color);
    return mesh;
  });
}
