export type * from './agent.ts'
export { agentFolder, inputFolder } from './agent.ts'
export type * from './events.ts'
export { findAgent } from './find-agent.ts'
