// A stock vscode-jsonrpc server that answers the bench's requests in the shapes afterturn answers them in.
const rpc = require('vscode-jsonrpc/node');

const connection = rpc.createMessageConnection(
  new rpc.StreamMessageReader(process.stdin),
  new rpc.StreamMessageWriter(process.stdout),
);
const texts = new Map();

connection.onRequest('initialize', () => ({ capabilities: {}, serverInfo: { name: 'peer' } }));
connection.onRequest('session/open', (params) => ({ sessionId: params.sessionId, known: true }));
connection.onRequest('condense/summarize', (params) => {
  texts.set('t1', params.batch.toolCalls[0].resultText);
  return {};
});
connection.onRequest('condense/resolveRef', (params) => ({
  records: params.refs.filter((ref) => texts.has(ref)).map((ref) => ({ ref, text: texts.get(ref) })),
  missing: [],
}));
connection.onNotification('exit', () => process.exit(0));
connection.onClose(() => process.exit(0));
connection.listen();
