// What is behind and below: a soft background, a floor of fine lines that fades out, the shadows on it.

/** 1, 2 or 5 times a power of ten, near to x. */
function niceNumber(x) {
  const power = Math.pow(10, Math.floor(Math.log10(x)));
  const part = x / power;
  return power * (part < 1.5 ? 1 : part < 3.5 ? 2 : part < 7.5 ? 5 : 10);
}

/** The background, from one colour above to another below and lighter in the middle, with the lines of the floor.
 * It is drawn anew only when the view of it changes, and shown as a picture behind everything. */
class Backdrop {
  constructor(renderer) {
    Object.assign(this, { renderer, scene: new THREE.Scene(), target: new THREE.WebGLRenderTarget(4, 4), last: '', colors: 0 });
    this.material = this.makeMaterial();
    const wall = new THREE.Mesh(new THREE.PlaneBufferGeometry(2, 2), this.material);
    const show = new THREE.ShaderMaterial({
      depthTest: false, depthWrite: false, uniforms: { picture: { value: this.target.texture } }, vertexShader: wholeScreen,
      fragmentShader: 'uniform sampler2D picture; varying vec2 uvAt; void main() { gl_FragColor = vec4( texture2D( picture, uvAt ).rgb, 1.0 ); }',
    });
    this.screen = new THREE.Mesh(new THREE.PlaneBufferGeometry(2, 2), show);
    for (const mesh of [wall, this.screen]) { mesh.frustumCulled = false; mesh.renderOrder = -10; }
    this.scene.add(wall);
  }

  makeMaterial() {
    return new THREE.ShaderMaterial({
      depthTest: false, depthWrite: false, vertexShader: wholeScreen,
      uniforms: { high: { value: new THREE.Color() }, low: { value: new THREE.Color() }, glow: { value: new THREE.Color() } },
      fragmentShader: `
        uniform vec3 high, low, glow; varying vec2 uvAt;
        void main() {
          vec3 color = mix( low, high, smoothstep( 0.0, 1.0, uvAt.y ) );
          float near = 1.0 - smoothstep( 0.0, 0.75, distance( uvAt, vec2( 0.5, 0.62 ) ) );
          float grain = fract( 52.9829189 * fract( dot( gl_FragCoord.xy, vec2( 0.06711056, 0.00583715 ) ) ) ) - 0.5;
          gl_FragColor = vec4( mix( color, glow, near ) + grain / 255.0, 1.0 );
        }`,
    });
  }

  setColors() {
    const { high, low, glow } = this.material.uniforms;
    high.value.set(cssColor('--sky'));
    low.value.set(cssColor('--ground'));
    glow.value.set(cssColor('--glow'));
    this.last = '';
  }

  setSize(width, height) {
    this.target.setSize(width, height);
    this.last = '';
  }

  /** Draws it if the view changed, or what is in it. */
  draw(camera, contents) {
    const view = [...camera.matrixWorld.elements, ...camera.projectionMatrix.elements, contents].join();
    if (view === this.last) return;
    this.last = view;
    this.renderer.setRenderTarget(this.target);
    this.renderer.render(this.scene, camera);
  }
}

/** A plane at the height of the floor, turned so that its z is up. */
function floorPlane(stage, size, material) {
  const plane = new THREE.Mesh(new THREE.PlaneBufferGeometry(size, size), material);
  plane.quaternion.setFromUnitVectors(new THREE.Vector3(0, 0, 1), up);
  const middle = bounds.getCenter(new THREE.Vector3());
  plane.position.copy(middle).addScaledVector(up, stage.floor - middle.dot(up));
  plane.frustumCulled = false;
  return plane;
}

/** Moves a part along with what travels. */
function followTraveler(part) {
  const home = part.position.clone();
  if (traveler >= 0) part.follow = () => part.position.copy(home).add(traveled());
}

function buildFloor(stage) {
  const cell = niceNumber(extent / 14);
  const turn = new THREE.Quaternion().setFromUnitVectors(new THREE.Vector3(0, 0, 1), up).inverse();
  const middle = bounds.getCenter(new THREE.Vector3()).applyQuaternion(turn);
  const material = new THREE.ShaderMaterial({
    transparent: true, depthWrite: false, side: THREE.DoubleSide, extensions: { derivatives: true },
    uniforms: { cell: { value: cell }, fade: { value: 1.5 * extent }, color: { value: stage.gridColor }, middle: { value: new THREE.Vector2(middle.x, middle.y) } },
    vertexShader: 'varying vec2 p; void main() { p = position.xy; gl_Position = projectionMatrix * modelViewMatrix * vec4( position, 1.0 ); }',
    fragmentShader: `
      uniform float cell, fade; uniform vec3 color; uniform vec2 middle; varying vec2 p;
      float lines( float width ) {
        vec2 q = ( p + middle ) / width, slope = fwidth( q );
        vec2 near = abs( fract( q - 0.5 ) - 0.5 ) / max( slope, 1e-6 );
        return ( 1.0 - min( min( near.x, near.y ), 1.0 ) ) * ( 1.0 - clamp( 2.0 * max( slope.x, slope.y ) - 0.3, 0.0, 1.0 ) );
      }
      void main() {
        float fine = 0.3 * lines( cell ), bold = 0.6 * lines( 5.0 * cell );
        gl_FragColor = vec4( color, max( fine, bold ) * smoothstep( 1.0, 0.1, length( p ) / fade ) );
      }`,
  });
  const floor = floorPlane(stage, 6 * extent, material);
  floor.renderOrder = -2;
  followTraveler(floor);
  if (traveler >= 0) {
    const place = floor.follow;
    floor.follow = () => {
      place();
      const now = traveled().applyQuaternion(turn);
      material.uniforms.middle.value.set(middle.x + now.x, middle.y + now.y); // lines stay where they are
    };
  }
  stage.cell = cell;
  return [floor];
}

/** The part of the floor that shadows can fall on: where the corners of the box around everything throw theirs,
 * with a margin for soft rims.  A smaller area costs less light. */
function shadowArea(stage) {
  const turn = new THREE.Quaternion().setFromUnitVectors(new THREE.Vector3(0, 0, 1), up), back = turn.clone().inverse();
  const sun = stage.light.direction, area = new THREE.Box2(), at = new THREE.Vector3();
  for (let k = 0; k < 8; k++) {
    at.set(k & 1 ? bounds.max.x : bounds.min.x, k & 2 ? bounds.max.y : bounds.min.y, k & 4 ? bounds.max.z : bounds.min.z);
    for (const lift of [0, (at.dot(up) - stage.floor) / sun.dot(up)]) {
      const foot = at.clone().addScaledVector(sun, -lift).applyQuaternion(back);
      area.expandByPoint(new THREE.Vector2(foot.x, foot.y));
    }
  }
  area.expandByScalar(0.08 * extent);
  const middle = area.getCenter(new THREE.Vector2()), size = area.getSize(new THREE.Vector2());
  const plane = new THREE.PlaneBufferGeometry(size.x, size.y).translate(middle.x, middle.y, stage.floor);
  return plane.applyMatrix(new THREE.Matrix4().makeRotationFromQuaternion(turn));
}

/** What catches shadows: nothing but its shade is seen.  Its depth counts for the dark of corners. */
function buildShadows(stage) {
  const material = new THREE.ShadowMaterial({ depthWrite: false });
  stage.shadeMaterial = material;
  const catcher = new THREE.Mesh(shadowArea(stage), material);
  catcher.frustumCulled = false;
  followTraveler(catcher);
  catcher.receiveShadow = true;
  catcher.solid = true;
  catcher.renderOrder = -1;
  stage.setTheme(stage.dark);
  return [catcher];
}
