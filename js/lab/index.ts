import { ILayoutRestorer, type JupyterFrontEnd, type JupyterFrontEndPlugin } from '@jupyterlab/application';
import { ICommandPalette, WidgetTracker } from '@jupyterlab/apputils';
import { IMainMenu } from '@jupyterlab/mainmenu';
import { INotebookTracker, NotebookActions } from '@jupyterlab/notebook';
import { addCommands, COMMANDS, listCommands } from './commands';
import { Desk } from './desk';
import { Follower } from './follow';
import { listenToPage } from './page';
import { sendRequest } from './request';
import type { Dock } from './sidebar';

/** Docks the inspector at the right and lets it follow the notebook in front. */
const plugin: JupyterFrontEndPlugin<void> = {
  id: 'gradlab:dock',
  description: 'The inspector of gradlab, docked beside the notebook.',
  autoStart: true,
  requires: [INotebookTracker],
  optional: [ICommandPalette, IMainMenu, ILayoutRestorer],
  activate: (
    app: JupyterFrontEnd,
    notebooks: INotebookTracker,
    palette: ICommandPalette | null,
    menu: IMainMenu | null,
    restorer: ILayoutRestorer | null
  ): void => {
    const docks = new WidgetTracker<Dock>({ namespace: 'gradlab' });
    const desk = new Desk(app.shell, new Follower(notebooks), docks);
    addCommands(app.commands, desk);
    listCommands(palette, menu);
    listenToPage({
      announced: announcement => desk.take(announcement),
      traceToggled: () => desk.toggleTracing(),
      commanded: request => sendRequest(notebooks, request)
    });
    NotebookActions.executed.connect((_, { notebook, cell }) => desk.cellRan(notebook, cell.model.sharedModel.getSource()));
    void restorer?.restore(docks, { command: COMMANDS.restore, name: () => 'dock' });
  }
};

export default plugin;
