// Runs the suite with roslib in a browser: node browser.mjs PAGE, where PAGE is
// served by the test. CHROMIUM names the browser, /usr/bin/chromium if it is not
// set.
import { pathToFileURL } from 'node:url';
import { join } from 'node:path';

const { chromium } = await import(pathToFileURL(join(process.env.POISE_CLIENTS, 'node_modules/playwright-core/index.mjs')));
const browser = await chromium.launch({ executablePath: process.env.CHROMIUM ?? '/usr/bin/chromium', args: ['--no-sandbox'] });
let code = 1;
try {
  const page = await browser.newPage();
  const broken = new Promise((_, reject) => page.on('pageerror', e => reject(new Error(`the page: ${e.message}`))));
  page.on('console', m => console.log(m.text()));
  await page.goto(process.argv[2]);
  await Promise.race([broken, page.waitForFunction(() => window.outcome !== undefined, null, { timeout: 600000 })]);
  const outcome = await page.evaluate(() => window.outcome);
  if (outcome === '') {
    console.log('all ok');
    code = 0;
  } else {
    console.error(outcome);
  }
} catch (e) {
  console.error(e.message);
} finally {
  await browser.close();
}
process.exit(code);
