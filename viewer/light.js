// Light: materials, the sun and its soft shadows, light from all around, and the dark of corners.
//
// Energies add up to at most 1 on a white face that looks at the sun: colours keep their tone.

const sunShare = 0.5, skyShare = 0.5;

// --- changes to the programs of three.js --------------------------------------------------------

/** Normals of copies that are stretched, tones of corners, and shadows as soft as the sun is wide. */
function patchShaders() {
  const chunks = THREE.ShaderChunk;
  chunks.defaultnormal_vertex = chunks.defaultnormal_vertex.replace('transformedNormal = mat3( instanceMatrix ) * transformedNormal;',
    `mat3 stretch = mat3( instanceMatrix );
     transformedNormal /= max( vec3( dot( stretch[0], stretch[0] ), dot( stretch[1], stretch[1] ), dot( stretch[2], stretch[2] ) ), vec3( 1e-30 ) );
     transformedNormal = normalize( stretch * transformedNormal );`);
  chunks.color_pars_vertex += '\n#ifdef USE_SHADE\n attribute float shade;\n#endif\n';
  chunks.color_vertex += '\n#ifdef USE_SHADE\n vColor *= shade;\n#endif\n';
  const all = chunks.shadowmap_pars_fragment, start = all.indexOf('#if defined( SHADOWMAP_TYPE_PCF )');
  const end = all.indexOf('#elif defined( SHADOWMAP_TYPE_PCF_SOFT )');
  if (start < 0 || end < 0) throw new Error('another version of three.js than r111');
  chunks.shadowmap_pars_fragment = `${all.slice(0, start)}#if defined( SHADOWMAP_TYPE_PCF )\n${softShadow}\n${all.slice(end)}`;
}

/** Percentage-closer soft shadows (Fernando 2005): how far what throws the shadow is away on average gives the
 * width of its rim.  shadowRadius: the widest, in texels; below 1.5 a small fixed rim, 0 a sharp one.  The pattern
 * of samples is turned from pixel to pixel where the rim is wide; in narrow ones that would be seen as speckles. */
const softShadow = `
  vec2 texel = vec2( 1.0 ) / shadowMapSize, slope = vec2( 0.0 );
  #if __VERSION__ >= 300
    vec3 dx = dFdx( shadowCoord.xyz ), dy = dFdy( shadowCoord.xyz );
    float det = dx.x * dy.y - dx.y * dy.x;
    if ( abs( det ) > 1e-20 ) slope = clamp( vec2( dy.y * dx.z - dx.y * dy.z, dx.x * dy.z - dy.x * dx.z ) / det, -2.0, 2.0 );
  #endif
  if ( shadowRadius < 0.5 ) {
    shadow = texture2DCompare( shadowMap, shadowCoord.xy, shadowCoord.z );
  } else if ( shadowRadius < 1.5 ) {
    shadow = 0.0;
    for ( int i = 0; i < 4; i ++ ) {
      vec2 at = texel * 0.75 * vec2( i < 2 ? -1.0 : 1.0, i == 0 || i == 3 ? -1.0 : 1.0 );
      shadow += 0.25 * texture2DCompare( shadowMap, shadowCoord.xy + at, shadowCoord.z + dot( slope, at ) );
    }
  } else {
    float turn = 6.2832 * fract( 52.9829189 * fract( dot( gl_FragCoord.xy, vec2( 0.06711056, 0.00583715 ) ) ) );
    float blockers = 0.0, gap = 0.0;
    for ( int i = - 6; i < 12; i ++ ) {
      // six as near as the narrowest rim, or thin shadows, which the others may miss, would be speckles
      float a = i < 0 ? 1.0472 * float( i ) : 2.39996 * float( i ) + turn;
      float away = i < 0 ? 2.2 : shadowRadius * sqrt( ( float( i ) + 0.5 ) / 12.0 );
      vec2 at = texel * away * vec2( cos( a ), sin( a ) );
      float above = shadowCoord.z + dot( slope, at ) - unpackRGBAToDepth( texture2D( shadowMap, shadowCoord.xy + at ) );
      if ( above > 0.0 ) { blockers += 1.0; gap += above; }
    }
    if ( blockers > 0.0 ) {
      float wide = clamp( 0.09 * ( gap / blockers ) * shadowMapSize.x, 2.2, shadowRadius );
      shadow = 0.0;
      turn *= smoothstep( 4.0, 14.0, wide );
      for ( int i = 0; i < 24; i ++ ) {
        float a = 2.39996 * float( i ) + turn;
        vec2 at = texel * wide * sqrt( ( float( i ) + 0.5 ) / 24.0 ) * vec2( cos( a ), sin( a ) );
        shadow += texture2DCompare( shadowMap, shadowCoord.xy + at, shadowCoord.z + dot( slope, at ) ) / 24.0;
      }
    }
  }`;
patchShaders();

// --- light from all around -----------------------------------------------------------------------

/** What comes from a direction (a unit vector): brighter above, a wide lamp beside the sun, less from below. */
function skyLight(direction, up, sun) {
  const height = direction.dot(up), lamp = Math.pow(Math.max(direction.dot(sun), 0), 12);
  return Math.min(skyShare * (0.75 + 0.25 * height + lamp), 1);
}

/** A cube of pictures of the sky. */
function makeSky(up, sun) {
  const size = 32, at = new THREE.Vector3();
  const faces = [(a, b) => [1, -b, -a], (a, b) => [-1, -b, a], (a, b) => [a, 1, b], (a, b) => [a, -1, -b], (a, b) => [a, -b, 1], (a, b) => [-a, -b, -1]];
  const pictures = faces.map((face) => {
    const canvas = document.createElement('canvas');
    canvas.width = canvas.height = size;
    const context = canvas.getContext('2d'), picture = context.createImageData(size, size);
    for (let i = 0; i < size * size; i++) {
      const [x, y, z] = face((2 * ((i % size) + 0.5)) / size - 1, (2 * (Math.floor(i / size) + 0.5)) / size - 1);
      at.set(-x, y, z).normalize(); // three.js mirrors cubes
      picture.data.fill(255 * skyLight(at, up, sun), 4 * i, 4 * i + 3);
      picture.data[4 * i + 3] = 255;
    }
    context.putImageData(picture, 0, 0);
    return canvas;
  });
  const cube = new THREE.CubeTexture(pictures);
  cube.needsUpdate = true;
  return cube;
}

/** The sun with its shadow, and the sky, which materials take. */
class Light {
  constructor(up, bounds, extent) {
    const turn = new THREE.Quaternion().setFromUnitVectors(new THREE.Vector3(0, 0, 1), up);
    this.direction = new THREE.Vector3(-0.45, -0.62, 1.25).normalize().applyQuaternion(turn);
    this.sky = makeSky(up, this.direction);
    this.sun = new THREE.DirectionalLight(0xffffff, sunShare);
    // what comes from all around on rough faces; smooth ones show the sky itself
    this.ambient = new THREE.HemisphereLight(0xffffff, 0xc4c9d0, skyShare);
    this.ambient.position.copy(up);
    const middle = bounds.getCenter(new THREE.Vector3());
    Object.assign(this, { middle, extent });
    this.place(new THREE.Vector3());
    const shadow = this.sun.shadow, half = 0.62 * extent;
    Object.assign(shadow.camera, { left: -half, right: half, top: half, bottom: -half, near: 0.02 * extent, far: 2.6 * extent });
    shadow.bias = -0.0006;
    shadow.mapSize.setScalar(crowded ? 1024 : 2048);
    this.sun.castShadow = true;
    this.setFine(true);
  }

  /** Moves the sun and its shadow along with what is lit. */
  place(shift) {
    this.sun.target.position.copy(this.middle).add(shift);
    this.sun.position.copy(this.sun.target.position).addScaledVector(this.direction, this.extent);
    this.sun.target.updateMatrixWorld();
  }

  /** Whether shadows have wide rims; if not, sharp ones where the processor draws. */
  setFine(fine) {
    this.sun.shadow.radius = fine ? this.sun.shadow.mapSize.x / 80 : software ? 0 : 1;
  }
}

// --- materials ------------------------------------------------------------------------------------

/** Makes materials of one kind of light: physically based, or simpler where there are very many bodies. */
class Materials {
  constructor(sky, simple) {
    Object.assign(this, { sky, simple, all: [] });
  }

  make(color, options = {}) {
    const { roughness = 0.5, metalness = 0, ...rest } = options;
    const material = this.simple ? new THREE.MeshLambertMaterial(rest)
      : new THREE.MeshStandardMaterial({ roughness, metalness, envMap: this.sky, ...rest });
    material.color.copy(linear(color));
    return material;
  }

  /** For copies that have colours and tones of their own. */
  colored(options = {}) {
    const material = this.make(0xffffff, { vertexColors: THREE.VertexColors, ...options });
    material.defines = { ...material.defines, USE_SHADE: '' };
    return material;
  }
}

// --- the dark of corners --------------------------------------------------------------------------

const wholeScreen = `
  varying vec2 uvAt;
  void main() { uvAt = uv; gl_Position = vec4( position.xy, 0.0, 1.0 ); }`;

/** Ambient occlusion in screen space (McGuire and others 2011): how much of what is seen near a point stands
 * above its face; at half the pixels, made smooth, and multiplied into the picture. */
class Occlusion {
  constructor(renderer, extent) {
    this.renderer = renderer;
    const target = () => new THREE.WebGLRenderTarget(4, 4, { minFilter: THREE.NearestFilter, magFilter: THREE.LinearFilter });
    Object.assign(this, { depth: target(), dark: target(), smooth: target() });
    this.depth.texture.magFilter = THREE.NearestFilter;
    const packing = { depthPacking: THREE.RGBADepthPacking, side: THREE.DoubleSide, blending: THREE.NoBlending };
    this.plain = new THREE.MeshDepthMaterial(packing);
    this.copied = new THREE.MeshDepthMaterial(packing);
    this.screen = new THREE.Mesh(new THREE.PlaneBufferGeometry(2, 2));
    this.screen.frustumCulled = false;
    this.flat = new THREE.Scene();
    this.flat.add(this.screen);
    this.eye = new THREE.Camera();
    this.finder = this.makeFinder(extent);
    this.smoother = this.makeSmoother();
    this.multiplier = new THREE.ShaderMaterial({
      uniforms: { dark: { value: this.smooth.texture } }, depthTest: false, depthWrite: false, transparent: true,
      blending: THREE.CustomBlending, blendSrc: THREE.ZeroFactor, blendDst: THREE.SrcColorFactor, vertexShader: wholeScreen,
      fragmentShader: 'uniform sampler2D dark; varying vec2 uvAt; void main() { float d = texture2D( dark, uvAt ).r; gl_FragColor = vec4( vec3( d ), 1.0 ); }',
    });
  }

  makeFinder(extent) {
    return new THREE.ShaderMaterial({
      uniforms: { depths: { value: this.depth.texture }, back: { value: new THREE.Matrix4() }, forth: { value: new THREE.Matrix4() }, reach: { value: 0.05 * extent } },
      depthTest: false, depthWrite: false, extensions: { derivatives: true }, vertexShader: wholeScreen,
      fragmentShader: `
        #include <packing>
        uniform sampler2D depths; uniform mat4 back, forth; uniform float reach; varying vec2 uvAt;
        vec3 place( vec2 uv ) {
          float d = unpackRGBAToDepth( texture2D( depths, uv ) );
          vec4 p = back * vec4( 2.0 * vec3( uv, d ) - 1.0, 1.0 );
          return p.xyz / p.w;
        }
        void main() {
          if ( unpackRGBAToDepth( texture2D( depths, uvAt ) ) > 0.99999 ) { gl_FragColor = vec4( 1.0 ); return; }
          vec3 p = place( uvAt ), n = normalize( cross( dFdx( p ), dFdy( p ) ) );
          vec4 side = forth * vec4( p + vec3( reach, 0.0, 0.0 ), 1.0 );
          float wide = clamp( 0.5 * side.x / side.w + 0.5 - uvAt.x, 0.004, 0.12 ), aspect = forth[1][1] / forth[0][0], sum = 0.0;
          vec2 cell = mod( gl_FragCoord.xy, 4.0 );
          float turn = 6.2832 * fract( ( floor( cell.x ) * 4.0 + floor( cell.y ) ) * 0.618034 );
          for ( int i = 0; i < 16; i ++ ) {
            float a = 2.39996 * float( i ) + turn;
            vec2 at = wide * sqrt( ( float( i ) + 0.5 ) / 16.0 ) * vec2( cos( a ), sin( a ) * aspect );
            if ( any( greaterThan( abs( uvAt + at - 0.5 ), vec2( 0.5 ) ) ) ) continue; // not in the picture
            vec3 v = place( uvAt + at ) - p;
            float far = dot( v, v ), fall = max( 1.0 - far / ( reach * reach ), 0.0 );
            sum += fall * max( dot( v, n ) - 0.012 * reach, 0.0 ) / ( sqrt( far ) + 0.02 * reach );
          }
          gl_FragColor = vec4( vec3( clamp( 1.0 - 1.9 * sum / 16.0, 0.25, 1.0 ) ), 1.0 );
        }`,
    });
  }

  makeSmoother() {
    return new THREE.ShaderMaterial({
      uniforms: { dark: { value: this.dark.texture }, depths: { value: this.depth.texture }, texel: { value: new THREE.Vector2() } },
      depthTest: false, depthWrite: false, vertexShader: wholeScreen,
      fragmentShader: `
        #include <packing>
        uniform sampler2D dark, depths; uniform vec2 texel; varying vec2 uvAt;
        void main() {
          float here = unpackRGBAToDepth( texture2D( depths, uvAt ) ), sum = 0.0, weight = 0.0;
          for ( int x = -2; x < 2; x ++ )
            for ( int y = -2; y < 2; y ++ ) {
              vec2 at = uvAt + texel * vec2( x, y );
              float w = abs( unpackRGBAToDepth( texture2D( depths, at ) ) - here ) < 0.004 * ( 1.02 - here ) + 1e-5 ? 1.0 : 0.02;
              sum += w * texture2D( dark, at ).r;
              weight += w;
            }
          gl_FragColor = vec4( vec3( sum / weight ), 1.0 );
        }`,
    });
  }

  setSize(width, height) {
    const w = Math.max(width >> 1, 4), h = Math.max(height >> 1, 4);
    for (const target of [this.depth, this.dark, this.smooth]) target.setSize(w, h);
    this.smoother.uniforms.texel.value.set(1 / w, 1 / h);
  }

  pass(material, target) {
    this.screen.material = material;
    this.renderer.setRenderTarget(target);
    this.renderer.render(this.flat, this.eye);
  }

  /** Darkens the picture that has just been drawn.  Only what casts shadows, and the floor, counts. */
  draw(world, camera) {
    const { renderer } = this, hidden = [], changed = [], shadows = renderer.shadowMap.autoUpdate;
    world.traverseVisible((object) => {
      if (!object.isMesh && !object.isLine && !object.isPoints) return;
      if (!object.castShadow && !object.solid) { hidden.push(object); return; }
      changed.push([object, object.material]);
    });
    for (const object of hidden) object.visible = false;
    for (const [object] of changed) object.material = object.isInstancedMesh ? this.copied : this.plain;
    renderer.shadowMap.autoUpdate = false;
    const color = renderer.getClearColor().clone(), alpha = renderer.getClearAlpha();
    renderer.setClearColor(0xffffff, 1);
    renderer.setRenderTarget(this.depth);
    renderer.render(world, camera);
    renderer.setClearColor(color, alpha);
    for (const [object, material] of changed) object.material = material;
    for (const object of hidden) object.visible = true;
    this.finder.uniforms.forth.value.copy(camera.projectionMatrix);
    this.finder.uniforms.back.value.getInverse(camera.projectionMatrix);
    this.pass(this.finder, this.dark);
    this.pass(this.smoother, this.smooth);
    renderer.autoClear = false;
    this.pass(this.multiplier, null);
    renderer.autoClear = true;
    renderer.shadowMap.autoUpdate = shadows;
  }
}
