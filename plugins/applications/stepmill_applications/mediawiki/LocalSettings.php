<?php
// The settings of every instance. What differs between instances comes from the environment:
// STEPMILL_STATE, the folder with its wiki.sqlite; STEPMILL_CACHE, a folder that instances share and
// that is not written to while they serve; STEPMILL_ORIGIN, what its pages call themselves.

// PHP's own waits for the next microsecond, for ever where the clock stands still; a server starts
// with that one switched off.
if ( !function_exists( 'uniqid' ) ) {
	function uniqid( $prefix = '', $more_entropy = false ) {
		static $count = 0;
		return $prefix . sprintf( '%013x', ++$count );
	}
}

$wgSitename = 'Register of Ships';
$wgMetaNamespace = 'Register';
$wgServer = getenv( 'STEPMILL_ORIGIN' ) ?: 'http://mediawiki.localhost';
$wgScriptPath = '';
$wgResourceBasePath = '';
$wgUsePathInfo = true;

$wgDBtype = 'sqlite';
$wgDBserver = '';
$wgDBuser = '';
$wgDBpassword = '';
$wgDBname = 'wiki';
$wgSQLiteDataDir = getenv( 'STEPMILL_STATE' );
$wgDBservers = [ [
	'type' => 'sqlite', 'host' => '', 'user' => '', 'password' => '', 'dbname' => 'wiki', 'load' => 1,
	'dbDirectory' => getenv( 'STEPMILL_STATE' ),
	'variables' => [ 'synchronous' => 'OFF' ], // the state is put back, not recovered
] ];

// All that is remembered lies in that one file, so that replacing it puts everything back.
$wgObjectCaches[CACHE_DB] = [ 'class' => SqlBagOStuff::class, 'loggroup' => 'SQLBagOStuff' ];
$wgMainCacheType = CACHE_NONE;
$wgSessionCacheType = CACHE_DB;
$wgParserCacheType = CACHE_NONE;
$wgMessageCacheType = CACHE_DB;
$wgCacheDirectory = getenv( 'STEPMILL_CACHE' );
$wgLocalisationCacheConf['store'] = 'files';
$wgLocalisationCacheConf['manualRecache'] = true;
$wgEnableParserLimitReporting = false; // it says how long a page took
WebRequest::overrideRequestId( str_repeat( '0', 24 ) );
$wgJobRunRate = 0;
$wgRCMaxAge = 999999999;

$wgSecretKey = str_repeat( '0123456789abcdef', 4 );
$wgUpgradeKey = '0123456789abcdef';
$wgAuthenticationTokenVersion = null;
$wgCookiePrefix = 'ships';
$wgCookieSecure = false;

$wgLanguageCode = 'en';
$wgLocaltimezone = 'UTC';
$wgDefaultSkin = 'vector';
$wgVectorDefaultSkinVersion = '1';
$wgVectorDefaultSkinVersionForExistingAccounts = '1';
wfLoadSkin( 'Vector' );

// What a page does beside what was asked of it is switched off.
$wgDefaultUserOptions['watchdefault'] = 0;
$wgDefaultUserOptions['watchcreations'] = 0;
$wgDefaultUserOptions['watchmoves'] = 0;
$wgDefaultUserOptions['watchrollback'] = 0;
$wgDefaultUserOptions['usenewrc'] = 0;
$wgEnableEmail = false;
$wgEnableUploads = false;
$wgPingback = false;
$wgShowHostnames = false;
$wgResourceLoaderStorageEnabled = false;
$wgAutoConfirmAge = 0;
$wgAutoConfirmCount = 0;
