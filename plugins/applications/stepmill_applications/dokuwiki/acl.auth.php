# <?php exit()?>
*	@ALL	1
*	@user	16
