<?php
// What PHP reads before each script of DokuWiki's: where this instance has its settings and its pages.
$tree = getenv('STEPMILL_TREE');
define('DOKU_MAIN_CONF', $tree . '/etc/dokuwiki/');
define('DOKU_CONF', getenv('STEPMILL_FOLDER') . '/conf/');
define('DOKU_SESSION_NAME', 'DokuWiki');
define('DOKU_SESSION_LIFETIME', 0);
define('DOKU_SESSION_PATH', '/');
define('DOKU_SESSION_DOMAIN', '');
set_include_path(get_include_path() . PATH_SEPARATOR . $tree . '/usr/share/php' . PATH_SEPARATOR . $tree . '/usr/share/php-geshi');
