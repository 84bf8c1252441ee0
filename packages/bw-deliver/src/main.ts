import { runTool } from '@buildwave/stdio'
import { tool } from './tool.ts'

await runTool(tool)
