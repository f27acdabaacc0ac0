// watch runs in a page, and notes when a picture first has as many parts as a robot.
export function watch() {
  let parts = 0;
  const { drawElements } = WebGL2RenderingContext.prototype;
  WebGL2RenderingContext.prototype.drawElements = function (...args) {
    if (parts++ === 0) requestAnimationFrame(() => (parts = 0));
    if (parts > 30) window.robotSeen ??= performance.now();
    return drawElements.apply(this, args);
  };
}
