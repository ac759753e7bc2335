import type { CallFacts, Metrics } from './metrics.ts';

export interface Tracing {
  /** One span for a call that is over. */
  call(facts: CallFacts): void;
  /** Sends what is still waiting, for two seconds at most. */
  close(): Promise<void>;
}

const LAST_SEND_MS = 2_000;

/**
 * Sends a span for each tool call to an OpenTelemetry collector over OTLP/HTTP. The libraries are loaded here
 * and nowhere else, so that a server without a collector pays nothing for them.
 * @param endpoint base URL of the collector; `/v1/traces` is added
 */
export async function startTracing(endpoint: string, service: string, version: string): Promise<Tracing> {
  const [{ SpanStatusCode }, { resourceFromAttributes }, { BasicTracerProvider, BatchSpanProcessor }, otlp] =
    await Promise.all([
      import('@opentelemetry/api'),
      import('@opentelemetry/resources'),
      import('@opentelemetry/sdk-trace-base'),
      import('@opentelemetry/exporter-trace-otlp-http'),
    ]);
  const exporter = new otlp.OTLPTraceExporter({ url: `${endpoint.replace(/\/+$/, '')}/v1/traces` });
  const provider = new BasicTracerProvider({
    resource: resourceFromAttributes({ 'service.name': service, 'service.version': version }),
    spanProcessors: [new BatchSpanProcessor(exporter)],
  });
  const tracer = provider.getTracer(service, version);
  return {
    call({ id, tool, outcome, errorCode, rule, seconds }) {
      const end = Date.now();
      const span = tracer.startSpan(`tools/call ${tool}`, {
        startTime: end - seconds * 1000,
        attributes: {
          'mcp.method.name': 'tools/call',
          'gen_ai.tool.name': tool,
          'remote_tool_server.call_id': id,
          'remote_tool_server.outcome': outcome,
          ...(errorCode !== undefined && { 'error.type': errorCode }),
          ...(rule !== undefined && { 'remote_tool_server.rule': rule }),
        },
      });
      if (outcome === 'error') span.setStatus({ code: SpanStatusCode.ERROR });
      span.end(end);
    },
    async close() {
      // A collector that is down must not hold up the stop of the server.
      const enough = new Promise<void>((resolve) => setTimeout(resolve, LAST_SEND_MS).unref());
      await Promise.race([provider.shutdown().catch(() => {}), enough]);
    },
  };
}

/** The same metrics, with each call handed to the tracing too. */
export function withTracing(metrics: Metrics, tracing: Tracing | undefined): Metrics {
  if (!tracing) return metrics;
  return {
    ...metrics,
    call(facts) {
      metrics.call(facts);
      tracing.call(facts);
    },
  };
}
