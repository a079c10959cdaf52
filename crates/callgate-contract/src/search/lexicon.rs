//! What people say, and what tools are described with.
//!
//! A few hundred words of everyday speech, each beside the word that stands for it in the
//! descriptions of tools: "folder" for a directory, "picture" for an image; and the same from the
//! languages that most requests come in, since tools are mostly described in English. A word that
//! is missing here costs a search a little; none is needed for a word that the tools have
//! themselves, in whatever language. Not here: names of products, and what one server alone means.

use std::{collections::HashMap, sync::LazyLock};

use super::words::{split, stem};

/// What a word that stands for another counts, beside the word itself.
pub(super) const WEIGHT: f32 = 0.75;

/// `concept: words`. A word that ends in `*` stands for all that begin so. A concept of several
/// words is looked for word by word.
const SAID: &str = "
directory: folder folders dir path
folder: directory
file: document documents doc
image: picture photo photograph pic photos pictures logo icon
screenshot: picture capture snapshot screengrab
video: film movie clip
record: film capture
screencast: film video movie recording
delete: remove erase forget drop discard trash rid
remove: delete erase drop
create: make new add write build set open establish report file
add: append insert attach put store remember include
append: add
update: change modify edit rename set close mark label assign adjust bring
edit: change modify replace update
write: save store put compose
save: store keep
read: show view see open load look get display tell
get: show fetch retrieve obtain load read see give tell
retrieve: get fetch show load read
list: show all which what every everything
search: find look lookup seek locate hunt anybody anyone
find: search look locate
move: rename shift relocate transfer drag
rename: move
copy: duplicate clone own
fork: copy clone own
send: mail post submit forward
message: mail email letter note
issue: bug ticket bugs tickets defect problem
pull request: pr prs mr
merge: combine join squash
review: approve reviewer reviewers approved feedback remark
comment: reply remark respond tell answer discussion said note
status: state green passing ci checks
repository: repo repos project projects
commit: commits committed
stage: staged staging index
unstage: unstaged index staging reset undo
reset: undo revert discard
branch: branches
switch: change checkout
history: log past
log: history
user: person people member members developer developers everybody who customer
database: db sql tracker
data source: tracker tasks
table: db
query: sql select
schema: columns structure fields types column
insert: set
entity: person company thing people
observation: fact note knows
relation: link connection
knowledge graph: memory
memory: remember knowledge
url: address link website site web
internet: web online
fetch: download
navigate: open go visit browse surf
page: site website webpage homepage tab window
tab: page window
click: press push tap hit
key: enter shortcut
press: hit push
type: enter input write
fill: enter complete put
form: registration login
select: choose pick
option: dropdown
dialog: alert popup popping confirm prompt
hover: point mouse tooltip
drag: mouse
resize: size small large bigger smaller
upload: attach send
download: fetch save
console: warnings errors js scripts
network: xhr api http call calls
request: call calls response
performance: speed fast slow load loading profiling profile
trace: profiling profile profiler
emulate: pretend simulate throttle
geolocation: location place city country
simulate: pretend
evaluate: run execute
execute: run
code: snippet script source
script: code snippet javascript js
wait: hold until
time: clock late hour
timezone: clock
convert: if
sum: plus add total
compress: zip
gzip: zip
environment variable: env
echo: repeat back
metadata: info details information size changed
size: large biggest big
size: sizes
info: details information
details: full
tree: structure hierarchy
multiple: several many few these various five four three
block: paragraph content
property: value field column
property: properties
children: nested inside child
template: templates
audit: seo accessibility accessible score
heap: memory ram
snapshot: dump
css: style styles
accessibility: accessible
thought: think thinking puzzle reason
think: reason puzzle
bot: integration logged
insight: finding findings
weather: forecast temperature
difference: compare diff changed
diff: compare difference
changes: changed modified
calendar: appointment appointments meeting meetings schedule
event: appointment meeting
customer: client clients
node: knowledge entity memory
invoice: bill bills
payment: pay paid
order: purchase
cancel: abort stop
stop: end finish
start: begin launch open
restart: reboot

create: erstell* anleg* lege leg crée creer créez crear crea cree criar crie creare crea aanmak* maak maken neu neue neuen nouveau nouvelle nuevo nueva nuovo nuova novo nova nieuw* tworz* utworz* создай создать
delete: lösch* entfern* supprim* effac* elimin* borrar borra borre suprim* cancella* apag* exclu* verwijder* usun* удали удалить
remove: entfern* enlev* quitar quita rimuov* remov*
list: auflist* liste zeig* welche lister montre* affich* listar lista listado mostrar muestra muestre mostra mostre elenca* toon welke pokaz* покажи
show: zeig* anzeig* montre* affich* mostrar muestra muestre mostra mostre toon pokaz* покажи
search: such* find* finde cherch* recherch* trouv* busc* busqueda encontr* procur* pesquis* cerca cercare trova* zoek* szuk* znajd* найди найти поиск
read: lies lese* lesen vorlesen lis lire lisez leer lee lea ler leia leggi* lees lezen czyt* прочитай
write: schreib* écri* escrib* escrev* scriv* schrijf* napisz* напиши
open: öffne* ouvr* ouvre abrir abre abra apri* aprire abra open otworz* открой
close: schließ* schliess* ferm* cerrar cierra cierre fechar fecha feche chiud* sluit* zamkn* закрой
update: aktualisier* änder* aender* mettre modifi* actualiz* cambia* atualiz* alter* aggiorn* bijwerk* wijzig* zmien* обнови
edit: bearbeit* modifi* edit* bewerk*
add: füg* fueg* hinzufüg* ajout* añad* agreg* adicion* aggiung* toevoeg* voeg doda* добавь
send: send* schick* envo* envi* enviar manda* invia* stuur verstuur wysl* отправь
get: hole holen gib zeig* obten* obtener donne* dame deme ottieni
move: verschieb* umbenenn* déplac* deplac* renomm* mover mueve mueva mova spost* verplaats* przenies*
rename: umbenenn* benenn* renomm* renombr* renome* rinomin* hernoem*
copy: kopier* copi* kopieer
execute: ausführ* führe fuehre exécut* execut* ejecut* esegu* voer uitvoer*
run: ausführ* lanc* lanz* avvia*
start: start* beginn* démarr* demarr* comenz* empez* inici* avvia* começ*
stop: stopp* beend* arrêt* arret* deten* parar pare ferma*
wait: wart* attend* esper* aspett* aguard* wacht
click: klick* cliqu* clic clique hacer haz pulsa* clicca* klik*
fill: ausfüll* fülle fuelle rempl* rellen* preench* compil* invul* vul
form: formular* formulaire* formulier modulo
select: wähl* waehl* auswähl* choisi* seleccion* elige escog* selecion* escolh* selezion* scegli* kies*
press: drück* drueck* appuy* presion* pression* premi*
button: knopf schaltfläche bouton botón botao pulsante
file: datei* fichier* archivo* fichero* arquivo* ficheiro* bestand* plik* файл*
directory: ordner* verzeichnis* dossier* répertoire* repertoire* carpeta* directorio* pasta pastas diretorio* cartella cartelle map mappe katalog* папк*
image: bild bilder foto fotos photo* imag* immagin* afbeelding* obraz* картинк*
screenshot: bildschirmfoto* bildschirmaufnahm* capture écran ecran captura pantalla tela schermata schermo schermafbeelding zrzut скриншот*
page: seite seiten page pages página* pagina* webseite* site sito strona stron* страниц*
tab: reiter onglet* pestaña* aba scheda tabblad
url: adresse lien enlace collegamento
text: text texte* texto* testo tekst* текст*
user: benutzer* nutzer* utilisateur* usuario* usuári* utente utenti gebruiker* uzytkownik* пользовател*
message: nachricht* mensaje* mensag* messaggi* bericht* wiadomos* сообщени*
comment: kommentar* commentaire* comentario* comentár* commento* opmerking* komentarz*
issue: fehler* ticket* problem* absturz incid* incidencia* tarea* vorgang
bug: fehler* bogue erreur* errore*
repository: repositor* depot dépôt* dépôts repositorio* repositóri* archivio
branch: zweig* branche* rama ramas ramo ramos tak galaz
commit: commits commite*
merge: zusammenführ* zusammen fusionn* fusion* mescl* unisci
pull request: anfrage
code: quelltext* quellcode code codigo código* codice kod код*
database: datenbank* base datos donnees données dados dati databank* baza
table: tabelle* table tables tabla* tabela* tabella tabelle tabel
time: uhrzeit spät spaet zeit heure hora horas horário* ora ore tijd laat godzina czas врем*
timezone: zeitzone* fuseau* huso* fuso*
convert: umrechn* rechne konvertier* convert* convierte convierta converta
weather: wetter* météo meteo clima tiempo tempo weer pogoda погод*
calendar: kalender* calendrier* calendario* calendári*
event: termin* ereignis* rendez événement* evenement* evento* reunion* reunión* afspraak*
mail: mail* courriel* correo* posta
note: notiz* note* nota notas
memory: gedächtnis* gedaechtnis* mémoire* memoire* memoria* memória* geheugen
entity: eintrag* entité* entidad* entidade* entità
relation: beziehung* relation* relacion* relaç* relazion*
query: abfrage* requête* requete* consult* zapytani*
changes: änderung* aenderung* changement* modification* cambio* alteraç* modifich*
customer: kunde* kunden client* cliente* klant* klient*
invoice: rechnung* facture* factura* fatura* fattur* factuur*
order: bestellung* commande* pedido* ordine* ordini bestelling*
payment: zahlung* paiement* pago* pagamento* betaling*
translate: übersetz* traduc* traduir* traduz* vertaal*
upload: hochlad* lade téléverser telever* sube subir carreg* carica*
download: herunterlad* télécharg* telecharg* descarg* baix* scaric*
branch: zweig*

create: 创建 新建 建立 作成 作る 生成
delete: 删除 刪除 削除 消す
list: 列出 一覧 列表
search: 搜索 搜尋 查找 検索 探す 找
find: 查找 探す
read: 读取 讀取 阅读 読む 読み 读
write: 写入 寫入 書く 書き 写
open: 打开 打開 開く 開いて
close: 关闭 關閉 閉じ
update: 更新 修改 変更
add: 添加 增加 追加
send: 发送 發送 送信 送る
move: 移动 移動
rename: 重命名 名前
file: 文件 檔案 ファイル
directory: 目录 文件夹 目錄 フォルダ ディレクトリ
content: 内容 內容
page: 页面 網頁 网页 ページ
screenshot: 截图 截屏 スクリーンショット
image: 图片 圖片 画像 写真
click: 点击 點擊 クリック
user: 用户 用戶 ユーザー
issue: 问题 問題 工单 課題
comment: 评论 評論 コメント
code: 代码 程式碼 コード
repository: 仓库 倉庫 リポジトリ
branch: 分支 ブランチ
commit: 提交 コミット
merge: 合并 合併 マージ
database: 数据库 資料庫 データベース
table: 表格 テーブル
query: 查询 查詢 クエリ
time: 时间 時間 几点 何時
weather: 天气 天氣 天気
message: 消息 訊息 メッセージ
calendar: 日历 日曆 カレンダー
";

/// Words that say nothing of a tool, in the languages of [`SAID`].
const FILLERS: &str = "
a an the this that these those there here it its i me my mine we us our you your he him his she her they them their
is are was were be been being am do does did done doing don doesn didn dont doesnt has have had having can could will would shall should may might must
isnt arent wasnt cant couldnt wont wouldnt shouldnt im ive id youre its thats whats lets
of to in into on onto at by for from with without within over under about as than then so and or but if not no nor yes please just only also too very really some any
up out off down away back again ever still yet already now ahead let let want wants wanted need needs needed like liked get got gets give gave
what which who whom whose when where why how more most less least much such other another each both one ones thing things something anything everything nothing
hey hi hello thanks thank okay ok kindly us
der die das den dem des ein eine einen einem einer eines und oder aber ist sind war waren sei bin bist hat haben habe im am zum zur von vom mit ohne für fuer auf aus bei nach über ueber unter mir mich dir dich ihm ihn ihr sie es wir uns bitte mal doch nicht kein keine wie was wer wo wann warum alle alles gerade ob an ab ich du er bis
le la les un une des du de et ou est sont dans sur avec sans pour par il elle ils elles je tu nous vous mon ma mes ton ta tes son sa ses ce cette ces qui que quoi quel quelle moi toi au aux ne pas plus svp
el los las unos unas del al y o es son está esta estan en con sin para por mi mis tu tus su sus me te se lo le que qué quien cual cuál como cuando donde hay toda todo todos todas favor
o os as um uma do da dos das no na nos nas e ou é são com sem para por meu minha eu ele ela isso este esta uma faça faz
il lo gli uno di del della dei delle e è sono nel nella con senza per mio mia questo questa che chi cosa come dove mi ti ci un una
het een en van voor met zonder is zijn op in aan naar mij mijn dit dat deze die wat wie
";

struct Lexicon {
    /// By stem.
    exact: HashMap<String, Vec<&'static str>>,
    /// By how a word begins.
    begins: HashMap<String, Vec<&'static str>>,
    /// Of scripts without spaces.
    unspaced: Vec<(String, &'static str)>,
}

static LEXICON: LazyLock<Lexicon> = LazyLock::new(|| {
    let (mut exact, mut begins) = (HashMap::new(), HashMap::new());
    let mut unspaced = Vec::new();
    for (concept, words) in SAID.lines().filter_map(|line| line.split_once(": ")) {
        for word in words.split(' ') {
            let folded = split(word).concat();
            let into: &mut HashMap<String, Vec<&'static str>> = if !folded.is_ascii() {
                unspaced.push((folded.clone(), concept));
                &mut exact
            } else if word.ends_with('*') {
                &mut begins
            } else {
                &mut exact
            };
            let key = if word.ends_with('*') { folded } else { stem(&folded) };
            let concepts = into.entry(key).or_default();
            if !concepts.contains(&concept) {
                concepts.push(concept);
            }
        }
    }
    Lexicon { exact, begins, unspaced }
});

static WORDLESS: LazyLock<std::collections::HashSet<String>> =
    LazyLock::new(|| FILLERS.split_whitespace().map(|word| split(word).concat()).collect());

/// Whether a word says nothing of a tool.
pub(super) fn is_filler(word: &str) -> bool {
    WORDLESS.contains(word)
}

/// What a word may stand for: words of descriptions, not cut to stems.
pub(super) fn of(word: &str) -> Vec<&'static str> {
    let mut found: Vec<&'static str> = LEXICON.exact.get(&stem(word)).cloned().unwrap_or_default();
    // Inflected forms of other languages: the longest beginning that is known.
    let ends = word.char_indices().map(|(at, c)| at + c.len_utf8());
    let begins = ends.filter(|end| *end >= 3).collect::<Vec<_>>();
    let known = begins.into_iter().rev().find_map(|end| LEXICON.begins.get(&word[..end]));
    for concept in known.into_iter().flatten() {
        if !found.contains(concept) {
            found.push(concept);
        }
    }
    found
}

/// What the known words within a run of letters without spaces stand for.
pub(super) fn within(run: &str) -> impl Iterator<Item = String> {
    let mut found: Vec<&str> = Vec::new();
    for (word, concept) in &LEXICON.unspaced {
        if run.contains(word.as_str()) && !found.contains(concept) {
            found.push(concept);
        }
    }
    found.into_iter().map(str::to_owned)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_lead_to_those_of_descriptions() {
        for (word, expected) in [
            ("folder", "directory"),
            ("folders", "directory"),
            ("erstelle", "create"),
            ("dateien", "file"),
            ("loesche", "delete"),
            ("fichiers", "file"),
            ("pantalla", "screenshot"),
        ] {
            assert!(of(word).contains(&expected), "{word}: {:?}", of(word));
        }
        assert!(within("读取这个文件的内容").any(|concept| concept == "file"));
        assert!(is_filler("the") && is_filler("bitte") && !is_filler("folder"));
    }
}
