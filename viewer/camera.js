// The camera: turning, zooming, standard views, perspective or parallel, following a body.

/** Directions from the middle to the eye, with up along z: as engineers draw. */
const standardViews = {
  home: [0.72, -1, 0.42], front: [0, -1, 0], back: [0, 1, 0], left: [-1, 0, 0], right: [1, 0, 0], top: [0, -1e-4, 1], bottom: [0, -1e-4, -1],
};

class View {
  constructor(canvas) {
    this.camera = new THREE.PerspectiveCamera(30, 1, 1, 2);
    this.camera.up.copy(up);
    this.controls = new THREE.OrbitControls(this.camera, canvas);
    this.controls.enableKeys = false;
    this.controls.screenSpacePanning = true;
    this.parallel = false;
    this.followed = -1;
    this.name = ''; // of the standard view, until it is turned, moved or zoomed
    this.controls.addEventListener('start', () => { this.name = ''; });
    this.turn = new THREE.Quaternion().setFromUnitVectors(new THREE.Vector3(0, 0, 1), up);
    this.points = this.samplePoints();
  }

  get target() { return this.controls.target; }
  get distance() { return this.camera.position.distanceTo(this.target); }

  /** Height of what is seen at the distance of the middle. */
  seenHeight() {
    return 2 * this.distance * Math.tan((this.camera.fov * Math.PI) / 360);
  }

  /** Shapes without those of the ground that are much wider than all the motion: they need not be seen whole. */
  withoutWide(list) {
    const moving = new THREE.Box3(), samples = Math.min(numFrames, 12);
    for (let i = 0; i < samples; i++) {
      setPose((duration * i) / Math.max(samples - 1, 1));
      for (const shape of list) if (shape.body >= 0) expandByShape(moving, shape, traveled());
    }
    const size = moving.isEmpty() ? 0 : moving.getSize(new THREE.Vector3()).length();
    return list.filter((shape) => {
      const box = new THREE.Box3();
      if (shape.body >= 0 || size === 0) return true;
      expandByShape(box, shape, new THREE.Vector3());
      return box.getSize(new THREE.Vector3()).length() < 1.2 * size;
    });
  }

  /** Corners of boxes around bodies at some times: what has to be in the picture. */
  samplePoints() {
    const some = shapes.length > 400 ? shapes.filter((shape, i) => i % Math.ceil(shapes.length / 400) === 0) : shapes;
    const points = [], list = this.withoutWide(some);
    const samples = Math.min(numFrames, Math.max(3, Math.min(40, Math.floor(4000 / (list.length + 1)))));
    const held = numBodies > 400 ? [] : scene.joints.concat(scene.forces).flatMap(({ markers }) => markers.filter((number) => scene.markers[number]).map((number) => scene.markers[number]));
    for (let i = 0; i < samples; i++) {
      setPose((duration * i) / Math.max(samples - 1, 1));
      const back = traveled();
      for (const marker of held) {
        if (traveler >= 0 && marker.body < 0) continue;
        const point = new THREE.Vector3(...pointOf(marker.body, marker.position, [0, 0, 0])).sub(back);
        if (!isNaN(point.x + point.y + point.z)) points.push(point);
      }
      for (const shape of list) {
        const box = new THREE.Box3();
        expandByShape(box, shape, back);
        if (box.isEmpty()) continue;
        for (let k = 0; k < 8; k++) points.push(new THREE.Vector3(k & 1 ? box.max.x : box.min.x, k & 2 ? box.max.y : box.min.y, k & 4 ? box.max.z : box.min.z));
      }
    }
    for (let k = 0; k < 8 && (!points.length || numBodies > 400); k++)
      points.push(new THREE.Vector3(k & 1 ? bounds.max.x : bounds.min.x, k & 2 ? bounds.max.y : bounds.min.y, k & 4 ? bounds.max.z : bounds.min.z));
    return points;
  }

  /** The direction of a view.  Home is from the side and above; flat mechanisms are seen more from the front. */
  directionOf(name) {
    const away = new THREE.Vector3(...standardViews[name]);
    const size = bounds.getSize(new THREE.Vector3()).applyQuaternion(this.turn.clone().inverse());
    const [x, y, z] = size.toArray().map(Math.abs), most = Math.max(x, y, z);
    if (name === 'home' && z < 0.25 * most) away.z = 1;
    else if (name === 'home' && y < 0.25 * most) away.x = 0.45;
    else if (name === 'home' && x < 0.25 * most) away.set(1, -0.45, away.z);
    return away.normalize().applyQuaternion(this.turn);
  }

  /** From a direction, so near and so centred that all points just fit. */
  look(name) {
    const away = this.directionOf(name);
    const side = new THREE.Vector3().crossVectors(up, away).normalize(), top = new THREE.Vector3().crossVectors(away, side);
    const high = Math.tan((this.camera.fov * Math.PI) / 360) * 0.8, wide = high * Math.max(this.camera.aspect, 0.2);
    const middle = bounds.getCenter(new THREE.Vector3()), arm = new THREE.Vector3();
    let distance = 0;
    for (let round = 0; round < 6; round++) {
      let low = [Infinity, Infinity], most = [-Infinity, -Infinity];
      distance = 0;
      for (const point of this.points) {
        arm.copy(point).sub(middle);
        const near = this.parallel ? 0 : arm.dot(away), x = arm.dot(side), y = arm.dot(top);
        distance = Math.max(distance, near + Math.abs(x) / wide, near + Math.abs(y) / high);
      }
      for (const point of this.points) {
        arm.copy(point).sub(middle);
        const scale = distance / Math.max(distance - (this.parallel ? 0 : arm.dot(away)), 1e-9 * extent);
        const at = [arm.dot(side) * scale, arm.dot(top) * scale];
        low = low.map((x, i) => Math.min(x, at[i]));
        most = most.map((x, i) => Math.max(x, at[i]));
      }
      middle.addScaledVector(side, 0.5 * (low[0] + most[0]) || 0).addScaledVector(top, 0.5 * (low[1] + most[1]) || 0);
    }
    middle.add(traveled());
    this.target.copy(middle);
    this.camera.position.copy(middle).addScaledVector(away, Math.max(distance, 0.02 * extent) || extent);
    this.controls.update();
    this.lastFollowed = null;
    this.name = name;
    if (traveler >= 0) this.accompany(traveler);
  }

  /** Goes along with a body from here. */
  accompany(body) {
    this.followed = body;
    this.lastFollowed = new THREE.Vector3(...pointOf(body, [0, 0, 0], [0, 0, 0]));
  }

  /** Turns the view about its target by angles around up and across. */
  orbit(around, across) {
    this.name = '';
    const arm = this.camera.position.clone().sub(this.target);
    const side = new THREE.Vector3().crossVectors(up, arm).normalize(), angle = arm.angleTo(up) + across;
    arm.applyAxisAngle(up, around);
    side.applyAxisAngle(up, around);
    if (angle > 0.02 && angle < Math.PI - 0.02) arm.applyAxisAngle(side, across);
    this.camera.position.copy(this.target).add(arm);
    this.controls.update();
  }

  /** Eye and target in global axes, six numbers. */
  get() {
    return [...this.camera.position.toArray(), ...this.target.toArray()].map((x, i) => x + origin[i % 3]);
  }

  set(eye, target) {
    this.name = '';
    this.camera.position.set(...eye.map((x, c) => x - origin[c]));
    this.target.set(...target.map((x, c) => x - origin[c]));
    this.controls.update();
    if (this.followed >= 0) this.accompany(this.followed);
  }

  zoom(factor) {
    this.name = '';
    const arm = this.camera.position.clone().sub(this.target).multiplyScalar(factor);
    this.camera.position.copy(this.target).add(arm);
    this.controls.update();
  }

  /** Follows a body (-1: none) and comes so near that it fills a third of the picture. */
  follow(body) {
    this.followed = body;
    this.lastFollowed = null;
    if (body < 0) return;
    const wanted = (3 * Math.max(reach[body], 1e-6 * extent)) / Math.tan((this.camera.fov * Math.PI) / 360);
    this.zoom(wanted / this.distance);
  }

  /** Moves view and target along with the followed body. */
  followNow() {
    if (this.followed < 0) return;
    const now = new THREE.Vector3(...pointOf(this.followed, [0, 0, 0], [0, 0, 0]));
    if (isNaN(now.x + now.y + now.z)) return;
    const step = now.clone().sub(this.lastFollowed || this.target.clone());
    this.target.add(step);
    this.camera.position.add(step);
    this.lastFollowed = now;
    this.controls.update();
  }

  /** What is too near or too far to be seen; in parallel view the picture is that at the middle. */
  setDepth() {
    const { camera, distance } = this;
    camera.near = distance / 200;
    camera.far = distance + 12 * extent;
    camera.updateProjectionMatrix();
    if (!this.parallel) return;
    const high = 0.5 * this.seenHeight(), wide = high * camera.aspect, deep = 12 * extent + distance;
    camera.projectionMatrix.makeOrthographic(-wide, wide, high, -high, -deep, deep);
    camera.projectionMatrixInverse.getInverse(camera.projectionMatrix);
  }

  /** The ray through a point of the picture, both from -1 to 1. */
  rayAt(x, y) {
    const from = new THREE.Vector3(x, y, -1).unproject(this.camera), to = new THREE.Vector3(x, y, 1).unproject(this.camera);
    return new THREE.Ray(from, to.sub(from).normalize());
  }
}
