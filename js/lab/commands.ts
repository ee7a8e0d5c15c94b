import type { ICommandPalette } from '@jupyterlab/apputils';
import type { IMainMenu } from '@jupyterlab/mainmenu';
import type { CommandRegistry } from '@lumino/commands';
import { gradlabIcon } from './icon';
import type { Preference, Preferences } from './preferences';

/** The ids of the commands. */
export const COMMANDS = {
  open: 'gradlab:open',
  restore: 'gradlab:restore',
  toggleTracing: 'gradlab:toggle-tracing',
  hints: 'gradlab:toggle-hints',
  footers: 'gradlab:toggle-footers',
  follow: 'gradlab:toggle-follow'
} as const;

const TOGGLES: readonly [Preference, string, string][] = [
  ['hints', 'Shape Hints', 'Show at the end of each line the shape of what it made'],
  ['footers', 'Cell Footers', 'Show ops, time and findings under each cell that ran'],
  ['follow', 'Follow Selection', 'Go to the line of what is selected in the inspector, and back']
];

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

/** Adds a command for each thing that the user can switch. */
export function addToggles(commands: CommandRegistry, preferences: Preferences): void {
  for (const [name, label, caption] of TOGGLES) {
    commands.addCommand(COMMANDS[name], {
      label: `GradLab: ${label}`,
      caption,
      describedBy: NO_ARGUMENTS,
      isToggleable: true,
      isToggled: () => preferences.get(name),
      execute: () => preferences.toggle(name)
    });
    preferences.changed.connect(() => commands.notifyCommandChanged(COMMANDS[name]));
  }
}

/** Lists the commands in the palette and in the View menu, where these exist. */
export function listCommands(palette: ICommandPalette | null, menu: IMainMenu | null): void {
  const ids = [COMMANDS.open, COMMANDS.toggleTracing, ...TOGGLES.map(([name]) => COMMANDS[name])];
  for (const command of ids) palette?.addItem({ command, category: 'GradLab' });
  // Rank: after JupyterLab's own groups.
  menu?.viewMenu.addGroup(
    ids.map(command => ({ command })),
    200
  );
}
