/** Runs the contract in a Worker, for a request whose body names the control server and the runtime. */
import { runContract } from './contract.ts';

export default {
  async fetch(request: Request): Promise<Response> {
    const { control, runtime } = (await request.json()) as { control: string; runtime: never };
    return Response.json(await runContract(control, runtime));
  },
};
