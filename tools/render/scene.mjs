// Opens the page that draws: a browser without a network.
import { readFile } from 'node:fs/promises';
import { chromium } from 'playwright-core';

const page = `<!doctype html><style>body{margin:0}canvas{display:block}
  span{position:absolute;bottom:5px;font:11px sans-serif;color:#5c6b73}</style><script type="importmap">{"imports":{
  "three":"/node_modules/three/build/three.module.js","three/examples/jsm/":"/node_modules/three/examples/jsm/",
  "urdf-loader":"/node_modules/urdf-loader/src/URDFLoader.js"}}</script><script type="module" src="/scene.js"></script>`;

// openScene returns a tab in which window.show and window.strip draw; the caller
// closes its browser. CHROMIUM names the browser, /usr/bin/chromium if it is not set.
export async function openScene(width, height) {
  const browser = await chromium.launch({ executablePath: process.env.CHROMIUM ?? '/usr/bin/chromium', args: ['--no-sandbox'] });
  try {
    const tab = await browser.newPage({ viewport: { width, height } });
    tab.on('pageerror', error => {
      console.error(`render: ${error.message}`);
      process.exit(1);
    });
    // nothing is fetched: every address is a file beside this one
    await tab.route('**', async route => {
      const { pathname } = new URL(route.request().url());
      if (pathname === '/') return route.fulfill({ contentType: 'text/html', body: page });
      const file = await readFile(new URL('.' + pathname, import.meta.url)).catch(() => null);
      return file ? route.fulfill({ contentType: 'text/javascript', body: file }) : route.abort();
    });
    await tab.goto('http://render.invalid/');
    await tab.waitForFunction(() => window.strip);
    return tab;
  } catch (error) {
    await browser.close();
    throw error;
  }
}
