//! The menu of completions, one a line; it is empty if nothing fits.

use reedline::{
    Color, ColumnarMenu, Completer, Editor, Menu, MenuBuilder, MenuEvent, MenuSettings, Painter, Suggestion,
};

use super::keys::MENU;

/// reedline's menu without its `NO RECORDS FOUND`.
pub struct QuietMenu(ColumnarMenu);

impl QuietMenu {
    /// Creates a menu with `mark` before the entries and without colours, so that it looks alike on all terminals.
    pub fn new(mark: &str) -> QuietMenu {
        let (normal, chosen) = (Color::Default.normal(), Color::Default.reverse());
        QuietMenu(
            ColumnarMenu::default()
                .with_name(MENU)
                .with_marker(mark)
                .with_text_style(normal)
                .with_match_text_style(normal)
                .with_selected_text_style(chosen)
                .with_selected_match_text_style(chosen)
                .with_description_text_style(Color::Default.dimmed()),
        )
    }
}

/// Cuts a menu to `rows`, always with the chosen row; its last line counts the hidden entries.
fn cut(shown: &str, count: usize, rows: usize) -> String {
    let mut lines: Vec<&str> = shown.split_terminator("\r\n").collect();
    let (columns, marked) = (count.div_ceil(rows.max(1)), Color::Default.reverse().prefix().to_string());
    if lines.len() > 1 {
        let is_chosen = lines.last().is_some_and(|last| last.contains(&marked));
        lines.remove(if is_chosen { 0 } else { lines.len() - 1 });
    }
    let more = count.saturating_sub(lines.len() * columns);
    let mut text: String = lines.iter().map(|line| format!("{line}\r\n")).collect();
    if more > 0 {
        text += &format!("… {more} more");
    }
    text
}

impl Menu for QuietMenu {
    fn menu_required_lines(&self, terminal_columns: u16) -> u16 {
        match self.0.get_values().is_empty() {
            true => 0,
            false => self.0.menu_required_lines(terminal_columns),
        }
    }

    fn menu_string(&self, available_lines: u16, use_ansi_coloring: bool) -> String {
        let (count, rows) = (self.0.get_values().len(), self.0.menu_required_lines(0));
        match count {
            0 => String::new(),
            _ if rows <= available_lines => self.0.menu_string(available_lines, use_ansi_coloring),
            // Always with colour: the chosen row is found by it.
            _ => cut(&self.0.menu_string(available_lines, true), count, rows.into()),
        }
    }

    // All other methods delegate to reedline's menu.

    fn settings(&self) -> &MenuSettings {
        self.0.settings()
    }

    fn is_active(&self) -> bool {
        self.0.is_active()
    }

    fn set_active(&mut self, active: bool) {
        self.0.set_active(active);
    }

    fn clear_input(&mut self) {
        self.0.clear_input();
    }

    fn on_activate(&mut self) {
        self.0.on_activate();
    }

    fn on_deactivate(&mut self) {
        self.0.on_deactivate();
    }

    fn handle_menu_event(&mut self, event: &MenuEvent) {
        self.0.handle_menu_event(event);
    }

    fn menu_event(&mut self, event: MenuEvent) {
        self.0.menu_event(event);
    }

    fn can_quick_complete(&self) -> bool {
        self.0.can_quick_complete()
    }

    fn can_partially_complete(
        &mut self,
        values_updated: bool,
        editor: &mut Editor,
        completer: &mut dyn Completer,
    ) -> bool {
        self.0.can_partially_complete(values_updated, editor, completer)
    }

    fn update_values(&mut self, editor: &mut Editor, completer: &mut dyn Completer) {
        self.0.update_values(editor, completer);
    }

    fn reset_position(&mut self) {
        self.0.reset_position();
    }

    fn reload(&mut self, updated: bool, editor: &mut Editor, completer: &mut dyn Completer) {
        self.0.reload(updated, editor, completer);
    }

    fn update_working_details(
        &mut self,
        editor: &mut Editor,
        completer: &mut dyn Completer,
        painter: &Painter,
    ) {
        self.0.update_working_details(editor, completer, painter);
    }

    fn replace_in_buffer(&self, editor: &mut Editor) {
        self.0.replace_in_buffer(editor);
    }

    fn min_rows(&self) -> u16 {
        self.0.min_rows()
    }

    fn get_values(&self) -> &[Suggestion] {
        self.0.get_values()
    }

    fn results_are_provisional(&self) -> bool {
        self.0.results_are_provisional()
    }

    fn is_awaiting_first_answer(&self) -> bool {
        self.0.is_awaiting_first_answer()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_does_not_fit_is_counted_and_the_chosen_row_is_shown() {
        let chosen = Color::Default.reverse().paint("c").to_string();
        for (shown, count, rows, expected) in [
            ("a\r\nb\r\nc\r\n".to_string(), 5, 5, "a\r\nb\r\n… 3 more".to_string()),
            (format!("a\r\nb\r\n{chosen}\r\n"), 5, 5, format!("b\r\n{chosen}\r\n… 3 more")),
            ("a b\r\nc d\r\ne f\r\n".into(), 10, 5, "a b\r\nc d\r\n… 6 more".into()),
            ("a\r\n".into(), 2, 2, "a\r\n… 1 more".into()),
        ] {
            assert_eq!(cut(&shown, count, rows), expected, "{shown:?}");
        }
    }
}
