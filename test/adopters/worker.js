import { guardFetch, refusalIn, RobotsClient } from 'canfetch';

export default {
  async fetch(request, env, ctx) {
    const robots = new RobotsClient({ agent: 'ExampleBot/1.0', cache: { maxOrigins: 100 } });
    try {
      return await guardFetch(fetch, robots)(new URL(request.url).searchParams.get('url'));
    } catch (error) {
      const refusal = refusalIn(error);
      if (refusal === undefined) throw error;
      return Response.json({ code: refusal.code }, { status: 403 });
    } finally {
      ctx.waitUntil(robots.close());
    }
  },
};
