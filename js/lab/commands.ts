import type { ICommandPalette } from '@jupyterlab/apputils';
import type { IMainMenu } from '@jupyterlab/mainmenu';
import type { CommandRegistry } from '@lumino/commands';
import { gradlabIcon } from './icon';

/** The ids of the commands. */
export const COMMANDS = { open: 'gradlab:open', restore: 'gradlab:restore', toggleTracing: 'gradlab:toggle-tracing' } as const;

/** What the commands act on. */
export interface Actions {
  /** Opens the dock and puts it in front. */
  open(): void;
  /** Makes the dock for a layout that is being restored. */
  restore(): void;
  /** Whether the session of the notebook in front traces. */
  readonly tracing: boolean;
  /** Switches tracing on or off, or shows in the dock that there is no session. */
  toggleTracing(): void;
}

const NO_ARGUMENTS = { args: { type: 'object', properties: {} } } as const;

/** Adds the commands. */
export function addCommands(commands: CommandRegistry, actions: Actions): void {
  commands.addCommand(COMMANDS.open, {
    label: 'GradLab: Open Inspector',
    caption: 'Show shapes, graph, gradients and optimizer of the notebook in front',
    icon: gradlabIcon,
    describedBy: NO_ARGUMENTS,
    execute: () => actions.open()
  });
  commands.addCommand(COMMANDS.restore, {
    label: 'GradLab: Restore Inspector',
    isVisible: () => false,
    describedBy: NO_ARGUMENTS,
    execute: () => actions.restore()
  });
  commands.addCommand(COMMANDS.toggleTracing, {
    label: 'GradLab: Toggle Tracing',
    caption: 'Switch tracing in the notebook in front on or off',
    describedBy: NO_ARGUMENTS,
    isToggleable: true,
    isToggled: () => actions.tracing,
    execute: () => actions.toggleTracing()
  });
}

/** Lists the commands in the palette and in the View menu, where these exist. */
export function listCommands(palette: ICommandPalette | null, menu: IMainMenu | null): void {
  const ids = [COMMANDS.open, COMMANDS.toggleTracing];
  for (const command of ids) palette?.addItem({ command, category: 'GradLab' });
  // Rank: after JupyterLab's own groups.
  menu?.viewMenu.addGroup(
    ids.map(command => ({ command })),
    200
  );
}
