import { runTool } from '@buildwave/stdio'
import { planTool } from './tool.ts'

await runTool(planTool)
