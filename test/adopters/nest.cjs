require('reflect-metadata');
const { Module } = require('@nestjs/common');
const { RobotsClient } = require('canfetch');

/** Nest closes the client with the application, if `enableShutdownHooks` is on or `close` is called. */
class Robots extends RobotsClient {
  onApplicationShutdown() {
    return this.close();
  }
}
// oxlint-disable-next-line no-extraneous-class -- a module of Nest is a class
class CrawlModule {}
Module({
  providers: [{ provide: Robots, useFactory: () => new Robots({ agent: 'ExampleBot/1.0' }) }],
  exports: [Robots],
})(CrawlModule);

// --- its test
const assert = require('node:assert/strict');
const { NestFactory } = require('@nestjs/core');
const { fakeOrigin } = require('canfetch/testing');

(async () => {
  const site = await fakeOrigin({ robots: 'User-agent: *\nDisallow: /private' });
  const app = await NestFactory.createApplicationContext(CrawlModule, { logger: false });
  const robots = app.get(Robots);
  assert.deepEqual(
    await Promise.all([robots.canFetch(site.url('/a')), robots.canFetch(site.url('/private'))]),
    [true, false],
  );
  assert.equal(site.robotsCount, 1);
  await app.close();
  await assert.rejects(robots.canFetch(site.url('/a')), { code: 'ERR_ROBOTS_CLOSED' });
  await site.close();
})();
