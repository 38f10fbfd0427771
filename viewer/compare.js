// The same model in another run: its motion as pale bodies beside those of the page, its positions as channels.

/** The other run: {title, motion, pose}, or null. */
function readOther() {
  if (!scene.other) return null;
  const { low, step } = unpackRanges(scene.other.ranges), values = scene.flexible.length ? new Uint16Array(readBytes('other-values')) : null;
  return {
    title: scene.other.title, pose: makePose(),
    /** The amplitudes of modes, as ownModes. */
    get: (name) => {
      const number = scene.other.channels.findIndex((channel) => channel.name === name), list = other.motion.times;
      if (number < 0) return undefined;
      const { low: least, high } = scene.other.channels[number], at = (frame) => least + ((high - least) / 65534) * values[number * list.length + frame];
      return { atTime: (time) => { const [frame, part] = splitTime(time, list); return part > 0 ? at(frame) + part * (at(frame + 1) - at(frame)) : at(frame); } };
    },
    motion: { times: new Float32Array(readBytes('other-times')), positions: new Uint16Array(readBytes('other-positions')), rotations: new Uint16Array(readBytes('other-rotations')), low, step },
  };
}
const other = readOther();

/** Positions of the other run at the frames of this one; none after its end. */
if (other)
  scene.bodies.forEach((body, b) => {
    for (let c = 0; c < 3; c++) {
      const { motion } = other, at = (frame) => {
        const value = motion.positions[3 * numBodies * frame + 3 * b + c];
        return value === none ? NaN : motion.low[3 * b + c] + motion.step[3 * b + c] * value;
      };
      channels.set(`compared.${body.name}.position.${'xyz'[c]}`, {
        unit: 'm',
        at: (frame) => {
          if (times[frame] > motion.times[motion.times.length - 1]) return NaN;
          const [row, part] = splitTime(times[frame], motion.times);
          return part > 0 ? at(row) + part * (at(row + 1) - at(row)) : at(row);
        },
      });
    }
  });

/** The bodies of the other run, pale and transparent. */
function buildCompared(stage) {
  const look = { transparent: true, opacity: 0.38, depthWrite: false }, material = stage.materials.colored(look);
  writePose(other.motion, stage.time, other.pose);
  const curved = paleBeams(stage.materials.make(0xffffff, { ...look, vertexColors: THREE.VertexColors }), other.pose);
  for (const mesh of curved) mesh.bring = () => mesh.shape(other.pose, 1);
  curved.push(...paleFlexible(flexibleMaterials(stage, look), other.pose, other, stage.time));
  curved.forEach((mesh, number) => {
    mesh.follow = () => {
      if (number === 0) writePose(other.motion, stage.time, other.pose);
      mesh.bring(stage.time);
    };
  });
  return curved.concat(movingParts().map(({ name, geometry, items }, number) => {
    const mesh = named(name, makeCopies(geometry(items.length), material, items.length));
    mesh.setColors(items.map((item) => new THREE.Color(item.color).lerp(new THREE.Color(0xffffff), 0.35)));
    mesh.castShadow = mesh.receiveShadow = false;
    mesh.renderOrder = 1;
    mesh.follow = () => {
      if (number === 0) writePose(other.motion, stage.time, other.pose);
      items.forEach((item, i) => writeProduct(mesh.matrices, 16 * i, other.pose.m, matrixOf(item.body), item.matrix, 0));
      mesh.place();
    };
    return mesh;
  }));
}
