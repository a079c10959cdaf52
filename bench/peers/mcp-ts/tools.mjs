// The two tools of the TypeScript servers: get_ticket, which is measured, and usage, which tells of
// this process. Both generations of the SDK register them in the same words.
import { z } from 'zod';
import { peakKib } from './peak.mjs';

const ticket = z.strictObject({
  ticketId: z.string().regex(/^TCK-[0-9]+$/).describe("The ticket's id, such as TCK-10423"),
  priority: z.enum(['low', 'normal', 'high', 'urgent']).describe('Only if it has this priority'),
  includeComments: z.boolean().default(false).describe('Whether its comments are wanted too'),
  limit: z.number().int().min(1).max(100).default(10).describe('How many of them'),
  tags: z.array(z.string()).max(8).default([]).describe('Only if it has all of these'),
});

/** A result in both forms, as MCP has it. */
function both(structuredContent) {
  return { content: [{ type: 'text', text: JSON.stringify(structuredContent) }], structuredContent };
}

export function register(server) {
  server.registerTool(
    'get_ticket',
    {
      description: 'Looks a support ticket up by its id.',
      inputSchema: ticket,
      outputSchema: z.object({ ticketId: z.string(), status: z.string(), assignee: z.string() }),
    },
    async ({ ticketId }) => both({ ticketId, status: 'open', assignee: 'dana' }),
  );
  server.registerTool(
    'usage',
    {
      description: 'What this process has used so far.',
      inputSchema: z.object({}),
      outputSchema: z.object({ cpuUs: z.number(), peakKib: z.number() }),
    },
    async () => {
      const used = process.resourceUsage();
      return both({ cpuUs: used.userCPUTime + used.systemCPUTime, peakKib: peakKib() });
    },
  );
}
