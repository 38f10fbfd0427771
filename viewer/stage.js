// The 3D view: its layers, its time, its pictures.

/** A layer is a group that a checkbox shows; follow() brings it to the pose, built when first seen. */
class Layer {
  constructor(key, title, build, available = true, shown = true) {
    Object.assign(this, { key, title, build, available, shown: shown && available, atFirst: shown && available, parts: null });
  }

  update(stage) {
    if (this.shown && !this.parts) {
      this.parts = this.build(stage);
      this.group = new THREE.Group();
      for (const part of this.parts) this.group.add(part);
      (this.key === 'floor' ? stage.backdrop.scene : stage.world).add(this.group);
    }
    if (this.group) this.group.visible = this.shown;
    if (this.shown) for (const part of this.parts) if (part.follow) part.follow();
  }
}

/** The graphics of a canvas: WebGL 2 where there is one. */
function makeRenderer(canvas) {
  const want = { antialias: !crowded, alpha: false };
  const context = canvas.getContext('webgl2', want) || undefined;
  const renderer = new THREE.WebGLRenderer({ canvas, context, ...want });
  renderer.gammaOutput = true;
  renderer.gammaFactor = 2.2;
  renderer.shadowMap.enabled = true;
  renderer.shadowMap.type = THREE.PCFShadowMap;
  renderer.info.autoReset = false;
  return renderer;
}

class Stage {
  constructor(canvas) {
    Object.assign(this, { canvas, time: 0, span: characteristicTime(), arrowScale: 1, opacity: 1, dark: false, width: 1, height: 1 });
    this.renderer = makeRenderer(canvas);
    this.fullRatio = Math.min(window.devicePixelRatio || 1, 2);
    this.stillRatio = crowded || !software ? Math.max(2, this.fullRatio) : this.fullRatio; // smooth edges at rest
    this.fine = !crowded; // wide shadows and dark corners
    this.world = new THREE.Scene();
    this.backdrop = new Backdrop(this.renderer);
    this.world.add(this.backdrop.screen);
    this.view = new View(canvas);
    this.camera = this.view.camera;
    this.controls = this.view.controls;
    this.floor = Math.min(bounds.min.dot(up), bounds.max.dot(up)) - 1e-3 * extent; // else what lies on it would flicker
    this.light = new Light(up, bounds, extent);
    this.materials = new Materials(this.light.sky, crowded);
    this.world.add(this.light.sun, this.light.sun.target, this.light.ambient);
    this.occlusion = new Occlusion(this.renderer, extent);
    this.addMaterials();
    this.addLayers();
    this.polhode = new PolhodeView(this);
    this.setRatio(this.stillRatio);
    this.view.look('home');
  }

  addMaterials() {
    const { materials } = this;
    this.gridColor = new THREE.Color();
    this.bodyLook = { roughness: 0.46, side: THREE.FrontSide };
    this.shapeMaterial = materials.colored(this.bodyLook);
    this.bodyMaterials = [this.shapeMaterial];
    this.groundMaterial = materials.colored(this.bodyLook); // dimmed at night, else it would outshine what moves
    this.symbolMaterial = materials.make(0x808080, { roughness: 0.38, metalness: 0.35 });
    this.steelMaterial = materials.make(0xc8ced6, { roughness: 0.25, metalness: 0.6 });
    this.springMaterial = materials.make(0x808080, { roughness: 0.35, metalness: 0.2 });
  }

  addLayers() {
    const forces = forceArrows(), reactions = jointArrows('force'), torques = torqueArrows();
    const springs = scene.forces.some((force) => ['spring-damper', 'support', 'joint-spring', 'bushing'].includes(force.type));
    const bodies = scene.bodies.map((body, index) => ({ body: index, point: [0, 0, 0] }));
    const markers = scene.markers.filter((marker) => marker.name && marker.body >= 0)
      .map((marker) => ({ body: marker.body, point: marker.position }));
    const color = (item) => bodyColor(item.body);
    const list = [
      new Layer('bodies', 'Bodies', buildBodies),
      new Layer('joints', 'Joints', buildJoints, scene.joints.length > 0, numBodies <= 400),
      new Layer('springs', 'Springs', buildSprings, springs),
      new Layer('forces', 'Forces', (stage) => arrowMeshes(stage, forces, arrowColors.forces, 1, 'N'), forces.length > 0, false),
      new Layer('reactions', 'Reactions', (stage) => arrowMeshes(stage, reactions, arrowColors.reactions, 1, 'N'), reactions.length > 0, false),
      new Layer('torques', 'Torques', (stage) => arrowMeshes(stage, torques, arrowColors.torques, 2, 'N m'), torques.length > 0, false),
      new Layer('paths', 'Paths', (stage) => pathLines(stage, bodies, color), true, numBodies <= 3),
      new Layer('marker-paths', 'Markers', (stage) => pathLines(stage, markers, color), markers.length > 0, false),
      new Layer('ghosts', 'Ghosts', buildGhosts, numFrames > 1 && numBodies <= 2000, false),
      new Layer('compared', 'Compared', buildCompared, other !== null),
      new Layer('labels', 'Names', () => [], true, false),
      new Layer('axes', 'Axes', buildAxes, true, false),
      new Layer('floor', 'Floor', buildFloor),
      new Layer('shadows', 'Shadows', buildShadows, true, !crowded || numBodies <= 300),
    ];
    this.layers = new Map(list.map((layer) => [layer.key, layer]));
  }

  isShown(key) { return this.layers.get(key).shown; }

  /** Takes the colours of the page. */
  setTheme(dark) {
    this.dark = dark;
    this.gridColor.set(cssColor('--grid'));
    this.symbolMaterial.color.copy(linear(cssColor('--symbol')));
    this.springMaterial.color.copy(linear(cssColor('--spring')));
    this.groundMaterial.color.setScalar(dark ? 0.4 : 1);
    this.backdrop.setColors();
    if (this.shadeMaterial) this.shadeMaterial.opacity = dark ? 0.5 : 0.26;
    if (this.polhode && this.polhode.body >= 0) this.polhode.choose(this.polhode.body);
  }

  /** How much of what is behind a body shines through, 1: nothing. */
  setOpacity(opacity) {
    this.opacity = opacity;
    for (const material of this.bodyMaterials) {
      material.transparent = opacity < 1;
      material.opacity = opacity;
      material.depthWrite = opacity >= 0.5;
    }
  }

  /** Pixels of the picture for one of the page. */
  setRatio(ratio) {
    this.ratio = ratio;
    this.renderer.setPixelRatio(ratio);
    this.sizeTargets();
  }

  sizeTargets() {
    const { width, height } = this.renderer.getDrawingBufferSize(new THREE.Vector2());
    this.occlusion.setSize(width, height);
    this.backdrop.setSize(width, height);
  }

  /** Takes the size that the page gives; says whether it changed, and the picture is empty then. */
  resize() {
    const { clientWidth: width, clientHeight: height } = this.canvas;
    if (!width || !height || (width === this.width && height === this.height)) return false;
    Object.assign(this, { width, height });
    this.renderer.setSize(width, height, false);
    this.sizeTargets();
    this.camera.aspect = width / height;
    return true;
  }

  /** Takes a new size, with a view that fits it until the user has turned it; says whether the size changed. */
  refit() {
    const changed = this.resize();
    if (changed && this.view.name) this.view.look(this.view.name);
    return changed;
  }

  setTime(time) {
    this.time = time;
    setPose(time);
    this.view.followNow();
    this.view.setDepth();
    this.camera.updateMatrixWorld();
    if (traveler >= 0) this.light.place(traveled());
    for (const layer of this.layers.values()) layer.update(this);
    this.polhode.update();
  }

  render() {
    const shadows = this.isShown('shadows'), { renderer } = this;
    renderer.info.reset();
    this.light.sun.castShadow = shadows;
    this.light.setFine(this.fine);
    this.backdrop.draw(this.camera, `${this.isShown('floor')}`);
    renderer.setRenderTarget(null);
    renderer.render(this.world, this.camera);
    this.calls = { ...renderer.info.render };
    if (shadows && this.fine) this.occlusion.draw(this.world, this.camera);
  }

  seenHeight() { return this.view.seenHeight(); }

  /** The nearest body under a point of the canvas, -1 if there is none: boxes around shapes are hit. */
  pick(x, y) {
    const ray = this.view.rayAt((2 * x) / this.width - 1, 1 - (2 * y) / this.height);
    const matrix = new THREE.Matrix4(), local = new THREE.Ray(), hit = new THREE.Vector3();
    let nearest = Infinity, found = -1;
    for (const shape of shapes) {
      if (shape.body < 0) continue;
      writeProduct(matrix.elements, 0, pose.m, matrixOf(shape.body), shape.matrix, 0);
      local.copy(ray).applyMatrix4(new THREE.Matrix4().getInverse(matrix));
      if (!local.intersectBox(shape.box, hit)) continue;
      const distance = hit.applyMatrix4(matrix).distanceTo(ray.origin);
      if (distance < nearest) { nearest = distance; found = shape.body; }
    }
    return found < 0 ? this.pickDot(x, y) : found;
  }

  /** Where a body is on the canvas: [x, y, depth], pixels. */
  screenOf(body) {
    const at = new THREE.Vector3(...pointOf(body, [0, 0, 0], [0, 0, 0])).project(this.camera);
    return [0.5 * (1 + at.x) * this.width, 0.5 * (1 - at.y) * this.height, at.z];
  }

  /** The small body whose dot is nearest to a point of the canvas, if it is within some pixels. */
  pickDot(x, y) {
    let nearest = 8, found = -1;
    for (const body of smallBodies) {
      const at = this.screenOf(body), distance = Math.hypot(at[0] - x, at[1] - y);
      if (Math.abs(at[2]) < 1 && distance < nearest) { nearest = distance; found = body; }
    }
    return found;
  }

  /** Axes and gravity as the camera sees them: [[name, x, y, depth], ...] on a unit disc. */
  compass() {
    const turn = new THREE.Matrix4().getInverse(this.camera.matrixWorld);
    const seen = (v) => { const w = v.clone().transformDirection(turn); return [w.x, -w.y, w.z]; };
    const list = [0, 1, 2].map((c) => ['xyz'[c], ...seen(new THREE.Vector3().setComponent(c, 1))]);
    const gravity = new THREE.Vector3(...scene.gravity);
    if (gravity.length() > 0) list.push(['g', ...seen(gravity.normalize())]);
    return list;
  }
}
