import { ILayoutRestorer, type JupyterFrontEnd, type JupyterFrontEndPlugin } from '@jupyterlab/application';
import { ICommandPalette, Notification, WidgetTracker } from '@jupyterlab/apputils';
import { PageConfig } from '@jupyterlab/coreutils';
import { IMainMenu } from '@jupyterlab/mainmenu';
import { INotebookTracker, NotebookActions } from '@jupyterlab/notebook';
import type { Widget } from '@lumino/widgets';
import { ISettingRegistry } from '@jupyterlab/settingregistry';
import { IStatusBar } from '@jupyterlab/statusbar';
import { addCommands, addToggles, COMMANDS, listCommands } from './commands';
import { Desk } from './desk';
import { Files } from './file';
import { Follower } from './follow';
import { Linking } from './linking';
import { markLive } from './live';
import { listenToPage } from './page';
import { Preferences } from './preferences';
import { sendRequest } from './request';
import type { Dock } from './sidebar';
import { StatusItem } from './status';

/** Docks the inspector at the right and lets it follow the notebook in front. */
const plugin: JupyterFrontEndPlugin<void> = {
  id: 'gradlab:dock',
  description: 'The inspector of gradlab, docked beside the notebook.',
  autoStart: true,
  requires: [INotebookTracker],
  optional: [ICommandPalette, IMainMenu, ILayoutRestorer, ISettingRegistry, IStatusBar],
  activate: (
    app: JupyterFrontEnd,
    notebooks: INotebookTracker,
    palette: ICommandPalette | null,
    menu: IMainMenu | null,
    restorer: ILayoutRestorer | null,
    settings: ISettingRegistry | null,
    bar: IStatusBar | null
  ): void => {
    const docks = new WidgetTracker<Dock>({ namespace: 'gradlab' });
    const follower = new Follower(notebooks);
    const desk = new Desk(app.shell, follower, docks);
    const preferences = new Preferences();
    const status = new StatusItem(() => desk.open());
    const openFile = (path: string) => app.commands.execute('docmanager:open', { path }) as Promise<Widget | undefined>;
    const files = new Files(PageConfig.getOption('serverRoot'), openFile, text => void Notification.info(text, { autoClose: 6000 }));
    const linking = new Linking({
      notebooks,
      follower,
      preferences,
      files,
      status,
      open: () => desk.open(),
      reveal: panel => app.shell.activateById(panel.id)
    });
    markLive(notebooks, follower);
    addCommands(app.commands, desk);
    addToggles(app.commands, preferences);
    listCommands(palette, menu);
    status.addTo(bar);
    listenToPage({
      announced: announcement => {
        const taken = desk.take(announcement);
        if (taken) linking.announced(announcement.model_id);
        return taken;
      },
      selected: target => linking.goto(target),
      cellRan: (kernelId, run) => linking.cellRan(kernelId, run),
      statusChanged: kernelId => linking.statusChanged(kernelId),
      traceToggled: () => desk.toggleTracing(),
      commanded: request => sendRequest(notebooks, request)
    });
    NotebookActions.executed.connect((_, { notebook, cell }) => desk.cellRan(notebook, cell.model.sharedModel.getSource()));
    preferences.load(settings).catch(console.warn);
    void restorer?.restore(docks, { command: COMMANDS.restore, name: () => 'dock' });
  }
};

export default plugin;
