// The job of every TypeScript client: node CLIENT CALLS IN_FLIGHT WARM PROGRAM ARGUMENTS...

import { peakKib } from './peak.mjs';

// As a model writes them: text.
const ARGUMENTS =
  '{"ticketId":"TCK-10423","priority":"high","includeComments":true,"limit":20,"tags":["billing","vip"]}';

function cpuUs() {
  const used = process.resourceUsage();
  return used.userCPUTime + used.systemCPUTime;
}

/** What was typed. */
export function job() {
  const [calls, inFlight, warm, command, ...args] = process.argv.slice(2);
  return { calls: Number(calls), inFlight: Number(inFlight), warm: Number(warm), command, args };
}

/** Makes the calls of a job over a connected client, and prints what they cost. */
export async function measure({ calls, inFlight, warm }, client, started, protocol) {
  await client.listTools();
  const connectMs = performance.now() - started;
  const ticket = async () => {
    const result = await client.callTool({ name: 'get_ticket', arguments: JSON.parse(ARGUMENTS) });
    return result.structuredContent.assignee === 'dana';
  };
  const usage = async () => (await client.callTool({ name: 'usage', arguments: {} })).structuredContent;
  const run = async (calls) => {
    let begun = 0;
    let right = 0;
    const worker = async () => {
      while (begun < calls) {
        begun += 1;
        if (await ticket()) right += 1;
      }
    };
    await Promise.all(Array.from({ length: inFlight }, worker));
    return right;
  };
  await run(warm);
  const [serverBefore, ownBefore, began] = [await usage(), cpuUs(), performance.now()];
  const right = await run(calls);
  const [wallMs, ownAfter] = [performance.now() - began, cpuUs()];
  const serverAfter = await usage();
  console.log(
    JSON.stringify({
      calls,
      right,
      protocol,
      connectMs,
      callsPerSecond: (calls / wallMs) * 1000,
      clientCpuUs: (ownAfter - ownBefore) / calls,
      clientPeakKib: peakKib(),
      serverCpuUs: (serverAfter.cpuUs - serverBefore.cpuUs) / calls,
      serverPeakKib: serverAfter.peakKib,
    }),
  );
  await client.close();
}
