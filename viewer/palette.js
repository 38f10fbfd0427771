// Colours.  Those of bodies come with the scene (src/draw/viewer/palette.c).

const groundColor = 0xa3abb5;
const axisColors = [0xd55e00, 0x009e73, 0x0072b2];
const arrowColors = { forces: 0xd55e00, reactions: 0xcc79a7, torques: 0x009e9e };

function bodyColor(body) {
  return body < 0 ? groundColor : scene.bodies[body].color;
}

/** A colour of the style sheet. */
function cssColor(name) {
  return getComputedStyle(document.documentElement).getPropertyValue(name).trim();
}

/** A colour as the graphics add light: proportional to its energy. */
function linear(color) {
  return new THREE.Color(color).convertSRGBToLinear();
}
