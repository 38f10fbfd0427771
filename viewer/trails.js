// Lines: paths as ribbons of some pixels, the axes of bodies.

/** A line of constant width on the screen through points (three numbers each, with the time of each): what is
 * past is strong, the last part most; what is to come is faint. */
class Ribbon extends THREE.Mesh {
  constructor(points, moments, color, width = 2.4) {
    super(new THREE.BufferGeometry(), new THREE.ShaderMaterial({
      transparent: true, depthWrite: false, side: THREE.DoubleSide,
      uniforms: {
        color: { value: new THREE.Color(color) }, now: { value: 0 }, trail: { value: 1 }, faint: { value: 0.2 },
        pixel: { value: new THREE.Vector2(0.001, 0.001) }, width: { value: width },
      },
      vertexShader: `
        attribute vec3 after; attribute vec2 side; uniform vec2 pixel; uniform float width; varying float moment, edge;
        void main() {
          vec4 a = projectionMatrix * modelViewMatrix * vec4( position, 1.0 ), b = projectionMatrix * modelViewMatrix * vec4( after, 1.0 );
          vec2 d = ( b.xy / b.w - a.xy / a.w ) / pixel;
          d = length( d ) > 1e-6 ? normalize( d ) : vec2( 1.0, 0.0 );
          a.xy += side.x * ( 0.5 * width + 0.5 ) * vec2( -d.y, d.x ) * pixel * 2.0 * a.w;
          moment = side.y; edge = side.x;
          gl_Position = a;
        }`,
      fragmentShader: `
        uniform vec3 color; uniform float now, trail, faint, width; varying float moment, edge;
        void main() {
          float strength = moment > now ? faint : mix( 0.5, 1.0, exp( ( moment - now ) / trail ) );
          float rim = clamp( ( 1.0 - abs( edge ) ) * ( 0.5 * width + 0.5 ), 0.0, 1.0 );
          gl_FragColor = vec4( color, strength * rim );
        }`,
    }));
    this.frustumCulled = false;
    this.renderOrder = 2;
    this.setPoints(points, moments);
  }

  setPoints(points, moments) {
    const count = moments.length, position = new Float32Array(6 * count), after = new Float32Array(6 * count), side = new Float32Array(4 * count), index = [];
    for (let i = 0; i < count; i++) {
      const next = Math.min(i + 1, count - 1), last = Math.max(next - 1, 0);
      for (const k of [0, 1]) {
        const at = 2 * i + k;
        for (let c = 0; c < 3; c++) {
          position[3 * at + c] = points[3 * i + c];
          // the last point goes on as the one before
          after[3 * at + c] = points[3 * i + c] + points[3 * next + c] - points[3 * last + c];
        }
        side[2 * at] = k ? 1 : -1;
        side[2 * at + 1] = moments[i];
      }
      if (i + 1 < count) index.push(2 * i, 2 * i + 1, 2 * i + 2, 2 * i + 1, 2 * i + 3, 2 * i + 2);
    }
    this.geometry.setAttribute('position', new THREE.BufferAttribute(position, 3));
    this.geometry.setAttribute('after', new THREE.BufferAttribute(after, 3));
    this.geometry.setAttribute('side', new THREE.BufferAttribute(side, 2));
    this.geometry.setIndex(index);
  }

  /** To be called before drawing. */
  set(stage) {
    const { uniforms } = this.material;
    uniforms.now.value = stage.time;
    uniforms.trail.value = 0.25 * stage.span || 1;
    uniforms.pixel.value.set(1 / stage.width, 1 / stage.height);
  }
}

/** Paths of points of bodies: [{body, point}], 300 at most. */
function pathLines(stage, items, colorOf) {
  const step = Math.ceil(items.length / 300), saved = stage.time;
  const chosen = items.filter((item, i) => i % step === 0);
  const arrays = chosen.map(() => new Float32Array(3 * numFrames)), point = [0, 0, 0];
  for (let f = 0; f < numFrames; f++) {
    setPose(times[f]);
    chosen.forEach((item, i) => {
      pointOf(item.body, item.point, point);
      const gap = isNaN(point[0] + point[1] + point[2]) && f > 0;
      arrays[i].set(gap ? arrays[i].subarray(3 * f - 3, 3 * f) : point.map((x) => x || 0), 3 * f);
    });
  }
  setPose(saved);
  return chosen.map((item, i) => {
    const ribbon = new Ribbon(arrays[i], times, colorOf(item));
    ribbon.follow = () => ribbon.set(stage);
    return ribbon;
  });
}

/** The axes of bodies: x, y, z in the colours of the compass. */
function buildAxes() {
  const count = numBodies + 1, geometry = new THREE.BufferGeometry();
  const points = new Float32Array(18 * count), colors = new Float32Array(18 * count);
  for (let i = 0; i < 6 * count; i++) linear(axisColors[(i >> 1) % 3]).toArray(colors, 3 * i);
  geometry.setAttribute('position', new THREE.BufferAttribute(points, 3));
  geometry.setAttribute('color', new THREE.BufferAttribute(colors, 3));
  const lines = new THREE.LineSegments(geometry, new THREE.LineBasicMaterial({ vertexColors: THREE.VertexColors, depthTest: false, transparent: true }));
  lines.frustumCulled = false;
  lines.renderOrder = 3;
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
